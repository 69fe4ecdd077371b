"""Alerts: which decision deserves which notification and sound, and the ways to deliver them."""
