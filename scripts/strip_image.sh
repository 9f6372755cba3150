#!/bin/sh
# Delete from a virtual environment what a service does not read at run time: strip_image.sh ENVIRONMENT
#
# torch/bin keeps torch_shm_manager, for which torch looks when it is imported.
set -eu
packages=$(echo "$1"/lib/python3*/site-packages)
cd "$packages"
find torch/bin -type f ! -name torch_shm_manager -delete
rm -rf torch/include torch/test torch/share torch/lib/*.a torch/utils/benchmark/examples
rm -rf matplotlib/mpl-data/sample_data matplotlib/tests mpl_toolkits/*/tests numpy/f2py/tests
for package in sympy networkx numpy mpmath fsspec lxml; do
    find "$package" -depth -type d \( -name tests -o -name include -o -name includes \) -exec rm -rf {} +
done
find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.a' \) -delete
# Compiled code of what a service does not import; Python compiles it where somebody does.
for package in sympy networkx mpmath torch/_inductor torch/_dynamo torch/onnx torch/ao fontTools setuptools; do
    find "$package" -depth -type d -name __pycache__ -exec rm -rf {} +
done
rm -rf triton # torch.compile alone asks for it
rm -rf pip pip-*.dist-info "$1"/bin/pip*
