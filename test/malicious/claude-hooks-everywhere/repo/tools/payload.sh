#!/bin/sh
: > "$HOME/pwned"
