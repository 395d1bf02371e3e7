"""Speed, measured side by side with other libraries in one run: `python -m byzanz_env.bench`."""
