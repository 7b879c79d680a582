"""Signatures: good, wrong, several, and what they cover."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import serialization as ser
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from mace_cl.errors import FormatError, SignatureError, UsageError
from mace_cl.program.container import read_container, signature_blocks
from mace_cl.program.keys import load_private_key, load_public_key, write_new_key
from mace_cl.program.reader import read_file
from mace_cl.program.sign import require_signature, sign_file, signature_states
from mace_cl.program.writer import to_bytes, write_file
from support import tiny_reader
from support.program_files import small_file


@pytest.fixture
def signed(tmp_path):
    """(file, public key file, bytes before)."""
    path, key = tmp_path / "a.bin", tmp_path / "key"
    write_file(path, small_file())
    before = path.read_bytes()
    public = write_new_key(key)
    sign_file(path, key)
    return path, public, before


def test_signing_moves_nothing(signed):
    path, public, before = signed
    data = path.read_bytes()
    assert data[: len(before)] == before
    assert len(data) == len(before) + 112
    require_signature(path, public)


def test_a_signed_file_still_loads(signed):
    path, _, _ = signed
    assert len(read_file(path).entries) == 3


def test_the_second_signature_leaves_the_first_valid(signed, tmp_path):
    path, public, _ = signed
    other = write_new_key(tmp_path / "other")
    sign_file(path, tmp_path / "other")
    assert [s.state for s in signature_states(require_signature(path, public))] == ["good", "good"]
    require_signature(path, other)


def test_signing_twice_with_one_key_adds_nothing(signed, tmp_path):
    path, _, _ = signed
    size = path.stat().st_size
    sign_file(path, tmp_path / "key")
    assert path.stat().st_size == size


def test_an_independent_reader_verifies_it(signed):
    path, _, _ = signed
    found = tiny_reader.read(path.read_bytes())
    ((public, signature),) = found["signatures"]
    Ed25519PublicKey.from_public_bytes(public).verify(signature, found["signed"])


def test_unsigned(tmp_path):
    write_file(tmp_path / "a.bin", small_file())
    public = write_new_key(tmp_path / "key")
    with pytest.raises(SignatureError, match="no signature"):
        require_signature(tmp_path / "a.bin", public)


def test_signed_by_somebody_else(signed, tmp_path):
    path, _, _ = signed
    other = write_new_key(tmp_path / "other")
    with pytest.raises(SignatureError, match="is not signed with the key"):
        require_signature(path, other)


def test_a_changed_header_makes_the_signature_wrong(signed):
    path, public, _ = signed
    container = read_container(path.read_bytes())
    forged = to_bytes(replace(small_file(), driver_version="300.0")) + b"".join(signature_blocks(container))
    with pytest.raises(SignatureError, match="changed"):
        require_signature(forged, public)
    assert [s.state for s in signature_states(read_container(forged))] == ["wrong"]


def test_a_damaged_file_is_not_signed(tmp_path):
    data = bytearray(to_bytes(small_file()))
    data[-1] ^= 1
    (tmp_path / "a.bin").write_bytes(data)
    write_new_key(tmp_path / "key")
    with pytest.raises(FormatError, match="SHA-256"):
        sign_file(tmp_path / "a.bin", tmp_path / "key")
    assert (tmp_path / "a.bin").read_bytes() == data


def test_an_unknown_algorithm_is_skipped(signed):
    path, public, _ = signed
    data = path.read_bytes() + struct.pack("<8sII", b"MACESIGN", 20, 77) + b"abcd"
    assert [s.state for s in signature_states(require_signature(data, public))] == ["good", "unknown algorithm"]
    assert len(signature_blocks(read_container(data))) == 2


def forms(private: Ed25519PrivateKey):
    public = private.public_key()
    raw = public.public_bytes_raw()
    pem = public.public_bytes(ser.Encoding.PEM, ser.PublicFormat.SubjectPublicKeyInfo)
    ssh = public.public_bytes(ser.Encoding.OpenSSH, ser.PublicFormat.OpenSSH)
    der = public.public_bytes(ser.Encoding.DER, ser.PublicFormat.SubjectPublicKeyInfo)
    own = private.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.NoEncryption())
    return [raw, raw.hex().encode(), raw.hex().encode() + b"\n", pem, ssh, der, own]


def test_every_form_of_a_key_is_read(tmp_path):
    private = Ed25519PrivateKey.generate()
    for i, form in enumerate(forms(private)):
        path = tmp_path / f"key{i}"
        path.write_bytes(form)
        assert load_public_key(path) == private.public_key().public_bytes_raw()
        assert load_public_key(form) == private.public_key().public_bytes_raw()


def test_openssh_private_keys_are_read():
    private = Ed25519PrivateKey.generate()
    text = private.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.OpenSSH, ser.NoEncryption())
    assert load_private_key(text).private_bytes_raw() == private.private_bytes_raw()


def other_keys():
    rsa_key = rsa.generate_private_key(65537, 2048)
    public = rsa_key.public_key().public_bytes(ser.Encoding.PEM, ser.PublicFormat.SubjectPublicKeyInfo)
    locked = Ed25519PrivateKey.generate().private_bytes(
        ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.BestAvailableEncryption(b"x")
    )
    return [public, locked, b"", b"no key", b"x" * 64]


def test_what_is_no_key_is_said_to_be_none():
    for data in other_keys():
        with pytest.raises(UsageError, match="Ed25519"):
            load_public_key(data)
        with pytest.raises(UsageError, match="Ed25519"):
            load_private_key(data)


def test_a_new_key_is_private_and_never_replaces_one(tmp_path):
    write_new_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="never replaced"):
        write_new_key(tmp_path / "key")


def test_missing_key_file(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        load_public_key(tmp_path / "none")
