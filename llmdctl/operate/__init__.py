"""Use cases that need several packages: install, upgrade, rollback, uninstall, status, verification."""
