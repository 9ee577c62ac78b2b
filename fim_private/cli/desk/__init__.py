"""From a file to a published page in a browser on this machine: `fim-private desk`, made of marimo's app mode.

Every step makes a command and shows it. What a step shows is what the command line understands of these words, and
whatever spends budget or writes a file is done by running them. So no step can differ from its command.

Three things are done without marimo. A paid run is a process of its own: marimo ends a session when its tab is closed.
A confirmation holds for one output file: two tabs spend twice only if both confirm. Nothing is downloaded: files are
written beside the release, where the command writes them too.
"""
