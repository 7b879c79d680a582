"""The pages of `mace inspect`: the plain values of `mace_cl.program.describe` as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mace_cl.cli.text import align, count_text, dims_text, plain, size_text

Values = Mapping[str, Any]

_MAX_ARGS = 12
_MAX_LAUNCHES = 3


def page(found: Values) -> Iterator[str]:
    """The page of a file of any kind."""
    if found["format"] == "mace-cl":
        yield from _version3(found)
    elif found["format"] == "MACE":
        yield from _mace(found)
    else:
        yield f"{plain(found['file'])}: {size_text(found['size'])}, {_title(found['description'])}"
        yield from _binary(found["description"], "")


def _title(binary: Values) -> str:
    return "a binary of no format that is known" if binary["kind"] == "opaque" else str(binary["title"])


# -- version 3 ----------------------------------------------------------------------------------------------------


def _version3(found: Values) -> Iterator[str]:
    model = found["model"]
    yield f"{plain(found['file'])}: mace-cl compiled program, version 3, {size_text(found['size'])}"
    rows = [
        ["target", plain(found["target_gpu"]) or "unknown"],
        ["driver", plain(found["driver_version"]) or "unknown"],
        ["checksum", f"CRC-32 {found['crc32']} of the header's {found['header_bytes']} bytes"],
        ["network", (f"{plain(model['name'])} ({plain(model['format'])}), {model['layers']} operators, "
                    f"{count_text(model['macs'], ' MACs')}")],
        ["", f"source sha256 {plain(model['source_sha256'])}"],
        ["", f"graph  sha256 {plain(model['graph_sha256'])}"],
        ["made by", ", ".join(f"{plain(k)} {plain(v)}" for k, v in found["provenance"].items()) or "unknown"],
    ]  # fmt: skip
    rows += [["signature", f"{s['algorithm']} {s['public_key']}"] for s in found["signatures"]]
    if found["unknown_features"]:
        rows.append(["NOT USABLE", "needs features that are not known here: " + plain(found["unknown_features"])])
    if found["unknown_keys"]:
        rows.append(["unknown", "header keys " + plain(", ".join(found["unknown_keys"]))])
    if found["unused_sections"]:
        rows.append(["unused", "sections " + plain(", ".join(found["unused_sections"]))])
    yield from align(rows)
    for index, entry in enumerate(found["entries"]):
        yield ""
        yield from _entry(index, entry)
    yield ""
    yield f"{len(found['sections'])} sections"
    rows = [["kind", "offset", "size", "sha256", "name"]]
    rows += [
        [plain(s["kind"]), str(s["offset"]), str(s["size"]), s["sha256"][:16], plain(s["name"])]
        for s in found["sections"]
    ]
    yield from align(rows, "  ")


def _entry(index: int, entry: Values) -> Iterator[str]:
    yield f"entry {index}: {plain(entry['name'])}"
    yield from align(_entry_rows(entry), "  ")
    for program in entry["programs"]:
        yield from _program(program)


def _entry_rows(entry: Values) -> list[list[str]]:
    rows = _identity_rows(entry["identity"])
    if entry["identity_digest"]:
        rows.append(["identity", entry["identity_digest"]])
    rows.append(["requires", _requirements(entry["requires"])])
    if entry["unknown_features"]:
        rows.append(["NOT USABLE", "needs features that are not known here: " + plain(entry["unknown_features"])])
    rows += [
        ["weights", f"{plain(w['logical'])}: {size_text(w['size'])}, sha256 {w['sha256'][:16]}"]
        for w in entry["weights"]
    ]
    for plan in entry["plans"]:
        rows += _plan_rows(plan)
    rows += _selftest_rows(entry["selftest"])
    rows += [["tuned", f"{plain(k)}: {plain(v)}"] for k, v in entry["tuning"].items()]
    return rows


def _identity_rows(identity: Values | None) -> list[list[str]]:
    if identity is None:
        return [["device", "any that meets the requirements (portable)"]]
    device = f"{plain(identity['device_vendor'])} {plain(identity['device_name'])}"
    rows = [
        ["device", f"{device.strip()} ({identity['device_type']}, {identity['address_bits']} bits)"],
        ["platform", f"{plain(identity['platform_name'])}, {plain(identity['platform_version'])}"],
        ["driver", f"{plain(identity['driver_version'])}; device version {plain(identity['device_version'])}"],
    ]
    for key, title in (("cpu_features", "processor"), ("driver_uuid", "driver id"), ("system", "system")):
        if identity[key]:
            rows.append([title, plain(identity[key])])
    rows += [["variable", f"{plain(k)}={plain(v)}"] for k, v in identity["environment"].items()]
    return rows


def _requirements(requires: Values) -> str:
    parts = [f"work-groups of {requires['work_group_size']}", f"alignment {requires['base_align_bytes']}"]
    parts += [f"{t} {size_text(requires[k])}" for k, t in
              (("local_mem_bytes", "local memory"), ("max_alloc_bytes", "buffers of")) if requires[k]]  # fmt: skip
    parts += [n for n in ("fp16", "fp64", "images") if requires[n]] + [plain(e) for e in requires["extensions"]]
    return ", ".join(parts)


def _plan_rows(plan: Values) -> list[list[str]]:
    shapes = ", ".join(f"{plain(n)} {dims_text(s)}" for n, s in plan["input_shapes"].items()) or "no input"
    if "damage" in plan:
        return [["plan", f"for {shapes}: {plain(plan['damage'])}"]]
    work = f"{count_text(plan['flop'], 'FLOP')}, {size_text(plan['bytes_moved'])} moved"
    arena = f"arena {size_text(plan['arena_bytes'])} ({size_text(plan['arena_unshared_bytes'])} without reuse)"
    rows = [
        ["plan", f"for {shapes}: {plan['launches']} launches in {plan['steps']} steps, {work}"],
        ["memory", f"{arena}, weights {size_text(plan['weights_bytes'])}"],
    ]
    for key in ("inputs", "outputs"):
        rows += [[key[:-1], f"{plain(e['name'])}: {e['type']} {dims_text(e['shape'])}"] for e in plan[key]]
    return rows


def _selftest_rows(selftest: Values | None) -> list[list[str]]:
    if selftest is None:
        return []
    if "damage" in selftest:
        return [["self-test", plain(selftest["damage"])]]
    outputs = ", ".join(f"{plain(o['name'])} ({o['samples']} samples)" for o in selftest["outputs"])
    return [["self-test", f"{outputs}, tolerance {selftest['tolerance']:.2g} of the peak"]]


def _program(program: Values) -> Iterator[str]:
    yield f"  program {plain(program['name'])}: {len(program['kernels'])} kernels"
    if program["options"]:
        yield f"    options {plain(program['options'])}"
    for form, blob in program["forms"].items():
        lines = f", {blob['lines']} lines" if "lines" in blob else ""
        yield f"    {form}: {size_text(blob['size'])}{lines}, sha256 {blob['sha256']}"
        if "description" in blob:
            yield from _binary(blob["description"], "      ", with_kernels=False)
    rows = [["kernel", "launched as", "arguments"]]
    rows += [[plain(k["name"]), _launches(k["launches"]), _arguments(k["args"])] for k in program["kernels"]]
    yield from align(rows if program["kernels"] else [], "    ")


def _launches(launches: list[Values]) -> str:
    parts = [
        f"{count}x {dims_text(row['global'])}/{dims_text(row['local']) if row['local'] else 'driver'}"
        for row in launches[:_MAX_LAUNCHES]
        if (count := row["count"])
    ]
    more = len(launches) - _MAX_LAUNCHES
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "") or "-"


def _arguments(args: list[list[str]]) -> str:
    shown = [f"{plain(t)} {plain(n)}".strip() for n, t in args[:_MAX_ARGS]]
    more = len(args) - _MAX_ARGS
    return "(" + ", ".join(shown) + (f", {more} more" if more > 0 else "") + ")"


# -- drivers' binaries --------------------------------------------------------------------------------------------


def _binary(binary: Values, indent: str, *, with_kernels: bool = True) -> Iterator[str]:
    """A binary's lines: format, fields, kernels, parts."""
    note = " (heuristic)" if binary.get("heuristic") else ""
    yield f"{indent}{plain(binary['title'])}{note}, {size_text(binary['size'])}"
    inner = indent + "  "
    if binary.get("damage"):
        yield f"{inner}damaged: {plain(binary['damage'])}"
    yield from align([[plain(k), plain(v)] for k, v in binary["fields"].items()], inner)
    if with_kernels:
        for kernel in binary["kernels"]:
            fields = ", ".join(f"{plain(k)} {plain(v)}" for k, v in kernel["fields"].items())
            yield f"{inner}kernel {plain(kernel['name'])}{_arguments(kernel['args'])}{'; ' + fields if fields else ''}"
    for part in binary["parts"]:
        yield f"{inner}{plain(part['name'])}:"
        yield from _binary(part, inner + "  ", with_kernels=with_kernels and not binary["kernels"])


# -- versions 1 and 2 ---------------------------------------------------------------------------------------------


def _mace(found: Values) -> Iterator[str]:
    kinds = {"programs": "compiled programs", "parameters": "tuned parameters", "empty": "empty store"}
    yield (
        f"{plain(found['file'])}: {kinds[found['kind']]} of Xiaomi's MACE, version {found['version']}, "
        f"{size_text(found['size'])}"
    )
    yield from align(_mace_rows(found))
    for program in found["programs"]:
        yield ""
        yield f"program {plain(program['name'])}: {size_text(program['size'])}, sha256 {program['sha256']}"
        rows = [["options", plain(" ".join(program["options"])) or "none"]]
        rows += [
            ["kernel", plain(k["name"]) + (f" (as {plain(k['function'])})" if k["function"] != k["name"] else "")]
            for k in program["kernels"]
        ]
        if program["source_hash"]:
            rows.append(["source", f"hash {plain(program['source_hash'])}"])
        yield from align(rows, "  ")
        yield from _binary(program["description"], "  ")
    if found["tuned"]:
        yield ""
        rows = [["kernel and shape", "work-group", "block", "values"]]
        rows += [
            [plain(t["name"]), dims_text(t["local_size"]) if t["local_size"] else "-",
             "-" if t["block"] is None else str(t["block"]), " ".join(map(str, t["values"]))]
            for t in found["tuned"]
        ]  # fmt: skip
        yield from align(rows)


def _mace_rows(found: Values) -> list[list[str]]:
    rows: list[list[str]] = []
    if found["crc32"] is not None:
        rows.append(["checksum", f"CRC-32 {found['crc32']}, {'right' if found['crc32_is_right'] else 'WRONG'}"])
    if found["stale_tail_bytes"]:
        rows.append(["stale tail", f"{found['stale_tail_bytes']} bytes of an older, longer file behind the last pair"])
    if found["duplicate_keys"]:
        rows.append(["duplicates", f"{found['duplicate_keys']} keys stand there twice; the first counts"])
    if found["unknown_records"]:
        rows.append(["unknown", f"{found['unknown_records']} records that MACE does not define"])
    if found["device_name"]:
        rows.append(["GPU", plain(found["device_name"])])
    if found["kind"] == "programs" and not found["identified"]:
        rows.append(["NOT USABLE", "the file does not say which device it is for"])
    platform = found["platform"]
    if platform is None:
        return [*rows, ["platform", plain(found["platform_text"])]] if found["platform_text"] else rows
    rows += [
        ["platform", f"{plain(platform['name'])}, {plain(platform['profile'])}"],
        ["OpenCL", plain(platform["opencl"]) or "unknown"],
        ["driver", plain(platform["driver"])],
    ]
    titles = {"commit": "commit", "change_id": "change", "date": "built on", "local_branch": "local branch",
              "remote_branch": "branch", "compiler": "compiler"}  # fmt: skip
    rows += [["  " + t, plain(platform["adreno"][k])] for k, t in titles.items() if (platform["adreno"] or {}).get(k)]
    rows.append(["MACE", plain(platform["mace_version"]) or "unknown"])
    return rows
