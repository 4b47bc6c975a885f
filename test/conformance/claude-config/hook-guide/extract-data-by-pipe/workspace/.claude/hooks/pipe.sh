#!/bin/bash
FILE_PATH=$(jq -r '.tool_input.file_path // empty')
