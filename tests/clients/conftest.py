"""Failures in the scenes show their values, as those in a test module do."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("clients.scenes")
