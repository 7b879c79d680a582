"""Ed25519 keys from the forms that people keep them in: PEM, OpenSSH, hexadecimal, raw bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization as ser
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from mace_cl.errors import UsageError
from mace_cl.program.atomic import write_atomically

Key: TypeAlias = "str | os.PathLike[str] | bytes"
"""A file that holds a key, or the key itself."""

MAX_KEY_BYTES = 65536
HINT = "make one with: mace sign --new-key FILE, or openssl genpkey -algorithm ed25519"


def load_public_key(key: Key) -> bytes:
    """The 32 bytes of a public key; of a private one, its public half.

    Raises:
        UsageError: It is no Ed25519 key, or the file cannot be read.
    """
    data, where = _content(key)
    raw = _raw(data)
    if raw is not None:
        return raw
    loaders = (ser.load_pem_public_key, ser.load_ssh_public_key, ser.load_der_public_key)
    for load in loaders:
        try:
            found = load(data)
        except (ValueError, UnsupportedAlgorithm):
            continue
        if isinstance(found, Ed25519PublicKey):
            return found.public_bytes_raw()
        raise UsageError("is a key of another algorithm than Ed25519", where=where, hint=HINT)
    private = _private(data)
    if private is None:
        raise UsageError("is no Ed25519 key", where=where, hint=HINT)
    return private.public_key().public_bytes_raw()


def load_private_key(key: Key) -> Ed25519PrivateKey:
    """A private key from PEM or OpenSSH form, without a passphrase.

    Raises:
        UsageError: It is none, or the file cannot be read.
    """
    data, where = _content(key)
    found = _private(data)
    if found is None:
        raise UsageError("is no Ed25519 private key without a passphrase", where=where, hint=HINT)
    return found


def write_new_key(path: str | os.PathLike[str]) -> Path:
    """Make a key pair: the private key in `path` (readable by its owner only), the public one beside it as .pub.

    Raises:
        UsageError: There is such a file already, or it cannot be written.
    """
    target = Path(path)
    public = target.with_name(target.name + ".pub")
    for existing in (target, public):
        if existing.exists():
            raise UsageError("exists already; a key is never replaced", where=str(existing))
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.NoEncryption())
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error
    with os.fdopen(handle, "wb") as file:
        file.write(pem)
    write_atomically(public, [key.public_key().public_bytes(ser.Encoding.PEM, ser.PublicFormat.SubjectPublicKeyInfo)])
    return public


def _content(key: Key) -> tuple[bytes, str]:
    """(bytes, name for messages)."""
    if isinstance(key, bytes):
        return key, "key"
    try:
        with Path(key).open("rb") as file:
            return file.read(MAX_KEY_BYTES), str(key)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(key)) from None


def _raw(data: bytes) -> bytes | None:
    """32 bytes, or 64 hexadecimal digits."""
    if len(data) == 32:
        return data
    text = data.strip()
    if len(text) != 64:
        return None
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError:
        return None


def _private(data: bytes) -> Ed25519PrivateKey | None:
    for load in (ser.load_pem_private_key, ser.load_ssh_private_key):
        try:
            found = load(data, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            continue
        if isinstance(found, Ed25519PrivateKey):
            return found
    return None
