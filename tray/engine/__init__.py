"""From request to answer: receive, plan, gates, execute, merge, respond, record. Begin with pipeline.py."""
