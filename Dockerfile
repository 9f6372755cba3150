# The service with the models that ship, for CPU and CUDA.
#
#   docker build -t passerelle .                                        torch from the default index (CUDA and CPU)
#   docker build -t passerelle --build-arg TORCH_INDEX=URL .            torch from another index, for CPU builds
#   docker run --rm -v passerelle:/data passerelle keys create NAME     a key, printed this once
#   docker run -p 8000:8000 -v passerelle:/data passerelle              serves whoever has a key
#   docker run -p 127.0.0.1:8000:8000 -e PASSERELLE_KEYS=off passerelle   serves whoever can connect: this machine
#
# A folder wheels/ beside this file, where there is one, is searched before any index; a torch wheel in it is
# taken. BASE may be any image with python3 (3.11 or later) and its venv module.

ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY constraints.txt wheel[s] /build/wheels/
# Only torch itself comes from TORCH_INDEX, which need not hold the pinned versions of what torch depends on.
RUN python3 -m venv /opt/passerelle \
 && /opt/passerelle/bin/pip install --no-deps --find-links wheels \
      ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch==2.13.0 \
 && /opt/passerelle/bin/pip install --constraint wheels/constraints.txt --find-links wheels torch==2.13.0
COPY pyproject.toml LICENSE README.md /build/
COPY nmt /build/nmt
COPY service /build/service
COPY training /build/training
RUN /opt/passerelle/bin/pip install --constraint wheels/constraints.txt --find-links wheels '.[serve,postgres]'

FROM ${BASE}
LABEL org.opencontainers.image.title="passerelle" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/passerelle /opt/passerelle
# Nothing is written but the database and documents, in /data, and caches, in /tmp: the root file system may be
# read-only.
RUN mkdir --mode=700 /data && chown 10001:10001 /data
VOLUME /data
ENV PASSERELLE_DATA_DIR=/data
ENV PATH=/opt/passerelle/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
ENTRYPOINT ["nmt"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
