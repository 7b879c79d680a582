"""Signatures of version 3 files: Ed25519, behind the last section, over the first 32 bytes and the header.

The header holds the SHA-256 of every section, so that a signature vouches for the whole file. Adding one moves nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from mace_cl.errors import SignatureError
from mace_cl.program.atomic import write_atomically
from mace_cl.program.container import ED25519, Container, Signature, signature_block
from mace_cl.program.keys import Key, load_private_key, load_public_key
from mace_cl.program.reader import Source, open_container
from mace_cl.program.verify import check_content


@dataclass(frozen=True)
class SignatureState:
    """One signature of a file.

    Attributes:
        public_key: In hexadecimal; empty where the algorithm is not known.
        state: 'good', 'wrong' or 'unknown algorithm'.
    """

    public_key: str
    state: str


def sign_file(path: str | os.PathLike[str], key: Key, output: str | os.PathLike[str] | None = None) -> str:
    """Sign a file, after everything in it was checked.

    Args:
        path: The file; it is replaced unless `output` is given.
        key: The private key.
        output: Where the signed file goes.

    Returns:
        The public key in hexadecimal.

    Raises:
        UsageError: A file cannot be read or written, or the key is none.
        FormatError: The file is damaged.
    """
    private = load_private_key(key)
    public = private.public_key().public_bytes_raw()
    container = open_container(path)
    check_content(container)
    parts: list[bytes | memoryview] = [container.data]
    if not any(s.public_key == public and _is_good(container, s) for s in container.signatures):
        parts.append(signature_block(public, private.sign(container.signed_part)))
    write_atomically(path if output is None else output, parts)
    return public.hex()


def signature_states(container: Container) -> list[SignatureState]:
    """Every signature of a file, and whether it is good."""
    return [_state(container, s) for s in container.signatures]


def require_signature(source: Source | Container, key: Key) -> Container:
    """Check that a file is signed with a key, and give it back as it was checked.

    Raises:
        SignatureError: It is not, or the signature is wrong.
        UsageError: The key or the file cannot be read.
        FormatError: The file is damaged.
    """
    public = load_public_key(key)
    container = source if isinstance(source, Container) else open_container(source)
    mine = [s for s in container.signatures if s.algorithm == ED25519 and s.public_key == public]
    if any(_is_good(container, s) for s in mine):
        return container
    if mine:
        raise SignatureError("its signature by this key is wrong: the file was changed", where=container.where)
    others = ", ".join(s.public_key.hex()[:16] + "..." for s in container.signatures if s.public_key)
    raise SignatureError(
        f"is not signed with the key {public.hex()[:16]}...",
        where=container.where,
        hint=f"it is signed with {others}" if others else "it has no signature",
    )


def _state(container: Container, signature: Signature) -> SignatureState:
    if signature.algorithm != ED25519:
        return SignatureState("", "unknown algorithm")
    return SignatureState(signature.public_key.hex(), "good" if _is_good(container, signature) else "wrong")


def _is_good(container: Container, signature: Signature) -> bool:
    if signature.algorithm != ED25519:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(signature.public_key).verify(signature.signature, container.signed_part)
    except (InvalidSignature, ValueError):
        return False
    return True
