"""From a file to a published page in a browser on this machine: `fim-private desk`, made of marimo's app mode.

Every step makes a command and shows it. The step shows what the command line understands of its words, and what spends
budget or writes a file is done by running them. A paid run is a process of its own, because marimo ends a session when
its tab is closed. Nothing is downloaded: files are written beside the release, where the command writes them too.
"""
