"""The command line: runs the stages in order, and is the only one that prints.

Exit codes: 0 done; 1 `--check` found stale files, or a build failed; 2 bad input, and nothing was
written. A traceback means a bug.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from . import loader, parser, plan, render, verify, writer
from .errors import Diagnostic, Diagnostics, did_you_mean

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _FolderType(click.Path):
    """A folder that is there or can be made."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        # Path("") is '.', which nobody who gives an unset variable means.
        if value == "":
            self.fail("the name of a folder is empty", param, ctx)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


_FOLDER = _FolderType(file_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class Input:
    """What is read, and what of it is generated."""

    file: Path
    deprecated: Path | None = None
    # Patterns of functions' names; none for all functions.
    only: tuple[str, ...] = ()
    # None: what the file says.
    shards: int | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.file,) if self.deprecated is None else (self.file, self.deprecated)


@dataclass(frozen=True, slots=True)
class Generated:
    """What the stages up to `render` make of one input file."""

    plan: plan.BindingPlan
    files: tuple[render.RenderedFile, ...]


class _Command(click.Group):
    """Says in one line that the standard input or output is of no use."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except RuntimeError:
            # What click makes of an input that was closed before we began.
            if sys.stdin is not None:
                raise
            click.echo("opbind: cannot read the standard input: it is closed", err=True)
        except OSError as error:
            # The stages answer for the files that they read and write.
            if error.filename is not None:
                raise
            # What is still to be written would fail once more when Python ends.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
            reason = error.strerror or error
            click.echo(f"opbind: cannot write the standard output: {reason}", err=True)
        sys.exit(2)


@click.group(cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="opbind")
def main() -> None:
    """Python bindings for C++ operators, from one YAML file of schemas."""


def _input_options(command: Callable[..., None]) -> Callable[..., None]:
    """FILE and what changes how it is read; the command gets them as `given`."""

    @click.argument("file", type=_FILE)
    @click.option(
        "--deprecated",
        type=_FILE,
        help="Further signatures: a list such as torch's deprecated.yaml.",
    )
    @click.option(
        "--only", multiple=True, metavar="PATTERN", help="Functions with such names: 'add*'."
    )
    @click.option("--shards", type=click.IntRange(1, 64), help="Files that functions go to.")
    @functools.wraps(command)
    def wrapper(
        file: Path,
        deprecated: Path | None,
        only: tuple[str, ...],
        shards: int | None,
        **others: Any,
    ) -> None:
        command(given=Input(file, deprecated, only, shards), **others)

    return wrapper


@main.command()
@_input_options
@click.option("--out", type=_FOLDER, help="Folder for the generated files.")
@click.option("--check", is_flag=True, help="Write nothing; print a diff and exit 1 if stale.")
@click.option("--dump-plan", is_flag=True, help="Print the plan, and write nothing.")
@click.option("--list-outputs", is_flag=True, help="Print the files' paths, and write nothing.")
@click.option(
    "--depfile", type=click.Path(dir_okay=False, path_type=Path), help="Also write a Make rule."
)
def gen(
    given: Input,
    out: Path | None,
    check: bool,
    dump_plan: bool,
    list_outputs: bool,
    depfile: Path | None,
) -> None:
    """Generate the C++ sources and the Python package of FILE."""
    options = {
        "--dump-plan": dump_plan,
        "--list-outputs": list_outputs,
        "--check": check,
        "--depfile": depfile is not None,
        "--out": out is not None,
    }
    _refuse_together([option for option, is_given in options.items() if is_given])
    if dump_plan:
        click.echo(plan.dump(_planned(given)), nl=False)
        return
    if out is None:
        raise click.UsageError("Missing option '--out'.")
    generated = _generated(given)
    if list_outputs:
        listed = "".join(f"{out / f.path}\n" for f in generated.files)
        # As bytes: a path need not be UTF-8.
        click.echo(os.fsencode(listed), nl=False)
        return
    if depfile is None or check:
        _write(generated, out, check)
        return
    _refuse_to_replace(depfile, given.files, generated, out)
    rule = _make_rule(generated, given.files, out)
    # Tried first: nothing is written if it cannot be.
    _write_depfile(depfile, rule, is_trial=True)
    _write(generated, out, check)
    _write_depfile(depfile, rule)


@main.command()
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--format", "format_", type=click.Choice(["text", "status"]), default="text")
def schema(file: Iterable[bytes], format_: str) -> None:
    """Read schemas, one a line, from FILE or the standard input; print their canonical form.

    `status` prints one line for each: ok, warn or error, then its fields after tabs.
    """
    lines = (line.decode("utf-8", "surrogateescape") for line in _read_lines(file))
    is_good = True
    for line in parser.read_schema_lines(lines):
        is_good = is_good and line.status != "error"
        if format_ == "status":
            click.echo(line.status_text)
            continue
        if line.canonical:
            click.echo(line.canonical)
        _print(line.diagnostics)
    if not is_good:
        raise Exit(2)


@main.command()
@_input_options
@click.argument("sources", type=_FILE, nargs=-1)
@click.option("--out", type=_FOLDER, required=True, help="Folder for the generated files.")
@click.option(
    "--build-dir", type=_FOLDER, required=True, help="Folder for objects and the package."
)
@click.option("--lib", type=_FOLDER, help="Folder for the package; lib in the build folder.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
def build(
    given: Input,
    sources: Sequence[Path],
    out: Path,
    build_dir: Path,
    lib: Path | None,
    jobs: int,
) -> None:
    """Generate from FILE, then compile it with SOURCES into BUILD_DIR/lib.

    SOURCES are the kernels' C++ files, and the Python files of the fakes.
    """
    # Not above, as with `reference`: generating is short, and importing them would be part of it.
    from . import build as build_stage

    generated = _generated(given)
    _write(generated, out, check=False)
    paths = tuple(f.path for f in generated.files)
    request = build_stage.Request(generated.plan, out, paths, tuple(sources), build_dir, jobs, lib)
    try:
        package = build_stage.build(request)
    except build_stage.BuildError as error:
        click.echo(f"opbind build: {error}", err=True)
        raise Exit(1) from None
    click.echo(os.fsencode(package))


@main.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(["markdown", "schema", "schema-path"]),
    default="markdown",
    help="The page, the JSON Schema, or where the package has that.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it there.")
@click.option("--check", is_flag=True, help="Write nothing; print a diff and exit 1 if stale.")
def reference(format_: str, out: Path | None, check: bool) -> None:
    """The keys of the YAML file: a page to read, or a JSON Schema for editors."""
    from . import editor_schema
    from . import reference as reference_page

    if format_ == "schema-path":
        click.echo(editor_schema.PATH)
        return
    text = editor_schema.text() if format_ == "schema" else reference_page.markdown()
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        change = writer.write_text(out, text, check)
    except writer.WriteError as error:
        click.echo(f"opbind: {error}", err=True)
        raise Exit(2) from None
    if check and change is not None:
        click.echo(change.diff(), nl=False)
        raise Exit(1)


def _refuse_together(options: Sequence[str]) -> None:
    """What prints instead of writing leaves no use for what says how to write."""
    for option, useful in (("--dump-plan", ()), ("--list-outputs", ("--out",))):
        others = [other for other in options if other not in (option, *useful)]
        if option in options and others:
            raise click.UsageError(f"'{option}' and '{others[0]}' cannot be given together.")


def _read_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from file
    except OSError as error:
        click.echo(f"opbind: cannot read the schemas: {error.strerror or error}", err=True)
        raise Exit(2) from None


def _planned(given: Input) -> plan.BindingPlan:
    """The plan of the input; stops where an error was found.

    Entries are read and checked one by one, by three stages: all three speak, so that one run shows
    the faults of all entries. What is wrong between entries can be said of a good file alone.
    """
    diagnostics = Diagnostics()
    raw = loader.read_file(given.file, diagnostics)
    if given.deprecated is not None:
        raw = _with_deprecated(raw, given.deprecated, diagnostics)
    schemas = parser.parse_file(raw, diagnostics)
    if given.shards is not None:
        schemas = replace(schemas, library=replace(schemas.library, shards=given.shards))
    if raw.library is None and raw.form is loader.FileForm.MAPPING:
        # Own ops without a library: there is nothing to plan them for.
        _stop_on_errors(diagnostics)
    planned = plan.plan(schemas, diagnostics)
    _stop_on_errors(diagnostics)
    verify.verify(planned, diagnostics)
    _stop_on_errors(diagnostics)
    _print(diagnostics.sorted())
    planned = replace(planned, source=_spelled(planned.source))
    return _selected(planned, given.only) if given.only else planned


def _selected(planned: plan.BindingPlan, patterns: Sequence[str]) -> plan.BindingPlan:
    """The plan of the functions with such names; a pattern that none has is refused."""
    for pattern in patterns:
        if not any(fnmatchcase(function.name, pattern) for function in planned.functions):
            hint = did_you_mean(pattern, (function.name for function in planned.functions))
            message = f"no function has a name like '{pattern}'" + (f"; {hint}" if hint else "")
            raise click.BadParameter(message, param_hint="--only")
    return plan.select(
        planned, lambda function: any(fnmatchcase(function.name, one) for one in patterns)
    )


def _spelled(name: str) -> str:
    """A file's name as generated files have it: one line of UTF-8, whatever its bytes are."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", "\ufffd", text)


def _with_deprecated(raw: loader.RawFile, path: Path, diagnostics: Diagnostics) -> loader.RawFile:
    more = loader.read_file(path, diagnostics)
    if more.functions:
        place = more.functions[0].location
        hint = "an entry has name: and aten:"
        message = "a file of deprecated signatures holds an op"
        diagnostics.error(place, message, hint=hint, rule="wrong-type")
    return replace(raw, deprecated=(*raw.deprecated, *more.deprecated))


def _generated(given: Input) -> Generated:
    planned = _planned(given)
    return Generated(planned, render.render(planned))


def _stop_on_errors(diagnostics: Diagnostics) -> None:
    if diagnostics.has_errors:
        _print(diagnostics.sorted())
        raise Exit(2)


def _print(diagnostics: Iterable[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        click.echo(diagnostic.render(), err=True)


def _write(generated: Generated, out: Path, check: bool) -> None:
    # As the banner says it. The space ends the name: 'ops' must not own what 'ops2' made.
    owner = f"{writer.BANNER} from {generated.plan.origin} "
    try:
        changes = writer.write(generated.files, out, check, owner)
    except writer.WriteError as error:
        click.echo(f"opbind: {error}", err=True)
        raise Exit(2) from None
    if check and changes:
        click.echo("".join(change.diff() for change in changes), nl=False)
        click.echo(f"{len(changes)} generated files are stale; run without --check", err=True)
        raise Exit(1)
    for change in changes:
        click.echo(f"{change.kind.value} {out / change.path}", err=True)


def _make_rule(generated: Generated, files: Sequence[Path], out: Path) -> str:
    """`outputs: inputs` in Make's words: what makes a generated file stale."""
    package = Path(__file__).parent
    inputs = (*files, *sorted([*package.rglob("*.py"), *render.template_files()]))
    outputs = [out / f.path for f in generated.files]
    unspeakable = [p for p in (*outputs, *inputs) if re.search(r"[\x00-\x1f]", str(p))]
    if unspeakable:
        message = f"a depfile cannot name {str(unspeakable[0])!r}, which has a control character"
        raise click.BadParameter(message, param_hint="--depfile")
    # In a target, where % stands for any text.
    targets = " ".join(_escaped(p, " #:%") for p in outputs)
    return f"{targets}: {' '.join(_escaped(p, ' #:') for p in inputs)}\n"


def _refuse_to_replace(
    depfile: Path, inputs: Sequence[Path], generated: Generated, out: Path
) -> None:
    """A depfile in the place of an input or output, or of a folder of one, would destroy it."""
    place = Path(os.path.realpath(depfile))
    outputs = [out / f.path for f in generated.files]
    for path in (*inputs, *outputs):
        taken = Path(os.path.realpath(path))
        if taken in (place, *place.parents) or place in taken.parents:
            what = "input" if path in inputs else "output"
            message = f"'{depfile}' is in the place of the {what} '{path}'"
            raise click.BadParameter(message, param_hint="--depfile")


def _write_depfile(depfile: Path, rule: str, is_trial: bool = False) -> None:
    try:
        (writer.try_text if is_trial else writer.write_text)(depfile, rule)
    except writer.WriteError as error:
        click.echo(f"opbind: {error}", err=True)
        raise Exit(2) from None


def _escaped(path: Path, special: str) -> str:
    """As Make and ninja read it: a backslash is one unless it stands before what it escapes."""
    text = re.sub(rf"(\\*)([{special}])", r"\1\1\\\2", str(path))
    return text.replace("$", "$$")
