"""Image references of a release set, with a user's registry and overrides applied, and the versions inside."""

from __future__ import annotations

from collections.abc import Callable

from llmdctl.catalog.model import Image, ImageCatalog, ReleaseSet
from llmdctl.findings import UserError
from llmdctl.findings.versions import Version
from llmdctl.manifest.typed import nearest
from llmdctl.plan.model import ImagePlan
from llmdctl.plan.origin import Ledger, Origin, OriginKind, formula
from llmdctl.spec.model import ImageOverride, Images


def release_set(catalog: ImageCatalog, release: str) -> ReleaseSet:
    """The images of a release. Raises UserError for a release that the catalog lacks."""
    found = catalog.releases.get(release)
    if found is None:
        known = ", ".join(catalog.releases)
        raise UserError(
            f"spec.release: there is no release set {release!r}", fix=f"releases in the image catalog: {known}"
        )
    return found


class ImageResolver:
    """Turns image names of the catalog into references; `origin_of` tells the file of an image of the release."""

    def __init__(
        self,
        catalog: ImageCatalog,
        release: str,
        wanted: Images | None,
        ledger: Ledger,
        origin_of: Callable[[str, str], str],
    ) -> None:
        self._catalog = catalog
        self._origin_of = origin_of
        self._images = images = release_set(catalog, release)
        self._release = release
        self._registry = wanted.registry if wanted else None
        self._overrides = (wanted.overrides if wanted else None) or {}
        self._ledger = ledger
        for name in self._overrides:
            if name not in images.images:
                close = nearest(name, images.images)
                raise UserError(
                    f"spec.images.overrides.{name}: release {release} has no such image",
                    fix=f"did you mean {close!r}?" if close else "images: " + ", ".join(images.images),
                )

    def resolve(self, name: str, path: tuple[str, ...]) -> ImagePlan:
        """The reference of an image; its origin is noted at `path`. Raises UserError for an unknown name."""
        image = self._images.images.get(name)
        if image is None:
            raise UserError(
                f"release {self._release} has no image {name!r}",
                fix="images of this release: " + ", ".join(self._images.images),
                about=["spec.engine", "spec.accelerator", "spec.release", "spec.provider"],
            )
        override = self._overrides.get(name)
        file = self._origin_of(self._release, name)
        self._ledger.note(path, Origin(OriginKind.CATALOG, f"image {name} of release {self._release} ({file})"))
        if override is not None or self._registry:
            self._ledger.note((*path, "reference"), formula("the catalog's image with spec.images applied"))
        overridden = override is not None and bool(override.tag or override.digest or override.repository)
        version = self._version(image, override) if override is not None and overridden else image.version
        if version is not None and version != image.version:
            self._ledger.note((*path, "version"), formula("what the overriding reference says"))
        return ImagePlan(
            name=name,
            reference=self._reference(image, override),
            component=image.component,
            version=version or image.version,
            version_assumed=version is None,
            inferred=image.provenance.confidence == "inferred" and not overridden,
        )

    def _reference(self, image: Image, override: ImageOverride | None) -> str:
        repository = (override.repository if override else None) or self._mirrored(image.repository)
        tag = (override.tag if override else None) or image.tag
        digest = override.digest if override else None
        if digest is None and not (override and override.tag):
            digest = image.digest or None
        # A digest alone pins the image; a tag beside it would only be decoration that can lie.
        return f"{repository}@{digest}" if digest else f"{repository}:{tag}"

    def _version(self, image: Image, override: ImageOverride) -> str | None:
        """The version in the overriding image, or None when neither the catalog nor its name and tag tell it."""
        path = repository_path(override.repository or image.repository)
        tag = override.tag or image.tag
        kin = [
            other
            for release in self._catalog.releases.values()
            for other in release.images.values()
            if other.component == image.component
        ]
        listed = next(
            (other.version for other in kin if (repository_path(other.repository), other.tag) == (path, tag)), None
        )
        if listed is not None:
            return listed
        # Our own images of llm-d carry llm-d's version in their tags, and any build of the engine.
        base = path.rpartition("/")[2]
        telling = any(
            repository_path(other.repository).rpartition("/")[2] == base and _tells_version(other) for other in kin
        )
        known = Version.parse(tag) if telling else None
        return str(known).partition("-")[0] if known is not None else None

    def _mirrored(self, repository: str) -> str:
        if not self._registry:
            return repository
        return f"{self._registry.rstrip('/')}/{repository_path(repository)}"


def repository_path(reference: str) -> str:
    """The repository of an image reference without registry host, tag and digest: mirrors keep it."""
    name = reference.partition("@")[0]
    host, slash, rest = name.partition("/")
    # As container runtimes tell a host from the first step of a path on Docker Hub.
    named = slash and (host == "localhost" or "." in host or ":" in host)
    folder, slash, last = (rest if named else name).rpartition("/")
    return folder + slash + last.partition(":")[0]


def _tells_version(image: Image) -> bool:
    known = Version.parse(image.tag)
    return known is not None and known == Version.parse(image.version)
