"""Image references of a release set, with a user's registry and overrides applied."""

from __future__ import annotations

from llmdctl.catalog.model import Image, ImageCatalog, ReleaseSet
from llmdctl.findings import UserError
from llmdctl.manifest.typed import nearest
from llmdctl.plan.model import ImagePlan
from llmdctl.plan.origin import Ledger, Origin, OriginKind, formula
from llmdctl.spec.model import ImageOverride, Images


def release_set(catalog: ImageCatalog, release: str) -> ReleaseSet:
    """The images of a release. Raises UserError for a release that the catalog lacks."""
    found = catalog.releases.get(release)
    if found is None:
        known = ", ".join(catalog.releases)
        raise UserError(f"there is no release set {release!r}", fix=f"releases in the image catalog: {known}")
    return found


class ImageResolver:
    """Turns image names of the catalog into references."""

    def __init__(self, images: ReleaseSet, release: str, wanted: Images | None, ledger: Ledger) -> None:
        self._images = images
        self._release = release
        self._registry = wanted.registry if wanted else None
        self._overrides = (wanted.overrides if wanted else None) or {}
        self._ledger = ledger
        for name in self._overrides:
            if name not in images.images:
                close = nearest(name, images.images)
                raise UserError(
                    f"spec.images.overrides: release {release} has no image {name!r}",
                    fix=f"did you mean {close!r}?" if close else "images: " + ", ".join(images.images),
                )

    def resolve(self, name: str, path: tuple[str, ...]) -> ImagePlan:
        """The reference of an image; its origin is noted at `path`. Raises UserError for an unknown name."""
        image = self._images.images.get(name)
        if image is None:
            raise UserError(
                f"release {self._release} has no image {name!r}",
                fix="images of this release: " + ", ".join(self._images.images),
            )
        override = self._overrides.get(name)
        self._ledger.note(
            path, Origin(OriginKind.CATALOG, f"image {name} of release {self._release} (images/catalog.yaml)")
        )
        if override is not None or self._registry:
            self._ledger.note((*path, "reference"), formula("the catalog's image with spec.images applied"))
        overridden = override is not None and bool(override.tag or override.digest or override.repository)
        return ImagePlan(
            name=name,
            reference=self._reference(image, override),
            component=image.component,
            version=image.version,
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

    def _mirrored(self, repository: str) -> str:
        if not self._registry:
            return repository
        _, _, path = repository.partition("/")
        return f"{self._registry.rstrip('/')}/{path}"
