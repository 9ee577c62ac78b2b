"""From a file to a published page in a browser on this machine: `fim-private desk`, made of marimo's app mode.

Every step makes a command and shows what the command line understands of it. What spends or writes is done by running
it in a process of its own, because marimo ends a session when its tab is closed. Files are written, not downloaded.
"""
