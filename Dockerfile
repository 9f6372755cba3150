# The service with the models that ship, for CPU and CUDA (x86-64).
#
#   scripts/build_image.sh passerelle                                   with docker, podman or buildah
#   docker build -t passerelle --build-arg TORCH_INDEX=URL .            the same; URL: PyTorch's index of CPU builds
#   docker build -t passerelle:cuda --build-arg VARIANT=cuda .          torch with CUDA, from the default index
#   docker run --rm -v passerelle:/data passerelle keys create NAME     a key, printed this once
#   docker run -p 8000:8000 -v passerelle:/data --read-only --tmpfs /tmp --cap-drop ALL passerelle
#   docker run -p 127.0.0.1:8000:8000 -e PASSERELLE_KEYS=off passerelle   serves whoever can connect: this machine
#                                  by another name than localhost: -e PASSERELLE_ALLOWED_HOSTS=NAME (docs/keys.md)
#
# What is installed is locked by hash in requirements/ (scripts/lock_image.sh). A folder wheels/ beside this file,
# where there is one, is searched before any index: the CPU build of torch may lie there. BASE may be any image
# with python3 (3.11) and its venv module.

ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ARG VARIANT=cpu
ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_REQUIRE_VIRTUALENV=1
WORKDIR /build
COPY requirements wheel[s] /build/wheels/
ENV INSTALL="/opt/passerelle/bin/pip install --no-deps --only-binary :all: --require-hashes --find-links wheels"
RUN python3 -m venv /opt/passerelle \
 && { $INSTALL ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} --requirement "wheels/torch-$VARIANT.txt" \
      || { echo "torch of requirements/torch-$VARIANT.txt was not found: give its index, --build-arg" \
           "TORCH_INDEX=URL, put its file into wheels/, or take --build-arg VARIANT=cuda" >&2; exit 1; }; }
# srt alone is published as source; it is built with the setuptools that is locked, not with whichever is newest.
RUN sed --quiet '/^setuptools==/,/[^\\]$/p' wheels/common.txt >setuptools.txt \
 && $INSTALL --requirement setuptools.txt \
 && $INSTALL --use-pep517 --no-build-isolation --no-binary srt --requirement wheels/common.txt
COPY pyproject.toml LICENSE README.md /build/
COPY nmt /build/nmt
COPY service /build/service
COPY training /build/training
RUN /opt/passerelle/bin/pip install --no-deps --no-build-isolation . \
 && /opt/passerelle/bin/pip check
# The models that ship, as CTranslate2 reads them: see nmt/searchers/cache.py.
ENV PASSERELLE_CACHE=/opt/passerelle/cache
RUN /opt/passerelle/bin/python -c "from nmt.translator import Translator; from nmt.model_folder.registry import shipped_models; \
    [Translator.load(name, device='cpu') for name in shipped_models()]" \
 && chmod -R a+rX "$PASSERELLE_CACHE"
# What nothing reads at run time: tests, headers, static libraries, stubs, examples of other packages, and pip.
COPY scripts/strip_image.sh /build/
RUN sh strip_image.sh /opt/passerelle

FROM ${BASE}
LABEL org.opencontainers.image.title="passerelle" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/passerelle /opt/passerelle
# Nothing is written but the database and documents, in /data, and caches, in /tmp: the root file system may be
# read-only.
RUN mkdir --mode=700 /data && chown 10001:10001 /data
VOLUME /data
ENV PASSERELLE_DATA_DIR=/data PASSERELLE_CACHE=/opt/passerelle/cache
ENV PATH=/opt/passerelle/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib
# Read by NVIDIA's container runtime, where there is one; nobody else minds.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["nmt"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
