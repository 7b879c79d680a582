#!/usr/bin/env bash
# Installs what the tests can use of Debian: other OpenCL runtimes, the bounds checker, the offline compiler. As root.
#
# Mesa's rusticl needs libclc 15, which conflicts with the libclc of the offline compiler. Its library and the two files
# of libclc that it reads are therefore unpacked into the folder given as the argument, and the line to set
# MACE_TEST_RUSTICL is printed.
set -euo pipefail
folder=${1:?usage: install_debian_packages.sh FOLDER}

packages=(ocl-icd-libopencl1 pocl-opencl-icd oclgrind clang-22 libclc-22 lld-22 spirv-tools make
          libclang-cpp15 libllvm15 libllvmspirvlib15 libdrm-amdgpu1 libdrm-nouveau2 libdrm-radeon1 libsensors5)
missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing+=("$package")
done
library=$folder/root/usr/lib/x86_64-linux-gnu/libRusticlOpenCL.so.1
if [ "${#missing[@]}" -gt 0 ] || [ ! -e "$library" ]; then
    apt-get update -qq
fi
if [ "${#missing[@]}" -gt 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >&2
fi
if [ ! -e "$library" ]; then
    mkdir -p "$folder"
    (cd "$folder" && apt-get download -qq mesa-opencl-icd libclc-15 >&2)
    for package in "$folder"/*.deb; do
        dpkg-deb --extract "$package" "$folder/root"
    done
fi
mkdir -p /usr/lib/clc
cp --no-clobber "$folder"/root/usr/lib/clc/*.spv /usr/lib/clc/
echo "export MACE_TEST_RUSTICL=$(realpath "$library")"
