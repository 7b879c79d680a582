"""`mace sign`."""

from __future__ import annotations

import click

from mace_cl.errors import UsageError
from mace_cl.program.keys import write_new_key
from mace_cl.program.sign import sign_file


@click.command("sign")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option("--key", type=click.Path(dir_okay=False), help="Ed25519 private key (PEM or OpenSSH, no passphrase).")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write the signed file here; in place by default."
)
@click.option("--new-key", type=click.Path(dir_okay=False), help="Make a key pair: this file, and one with .pub.")
def command(file: str | None, key: str | None, output: str | None, new_key: str | None) -> None:
    """Sign FILE. Signatures of other keys stay valid; nothing else in the file moves."""
    if new_key is not None:
        public = write_new_key(new_key)
        click.echo(f"private key {new_key}\npublic key  {public}")
        if file is None:
            return
    chosen = key or new_key
    if file is None or chosen is None:
        raise UsageError("--key is missing" if file else "no file to sign", hint="make a key with --new-key FILE")
    click.echo(f"signed with {sign_file(file, chosen, output)}")
