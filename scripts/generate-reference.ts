import { ERROR_CODES } from '../src/base/errors.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { SETTINGS } from '../src/host/settings.ts';
import { eventsPage } from './generate-events-page.ts';
import { modelsPage } from './generate-models-page.ts';
import { toolsPage } from './generate-tools-page.ts';
import type { GeneratedFile } from './generated-file.ts';
import { code, formatPage, formatTable } from './markdown.ts';

/** The reference pages that are tables of the code. */
export function generateReference(): GeneratedFile[] {
  return [eventsPage(), toolsPage(), modelsPage(), settingsPage(), errorsPage(), exitCodesPage()];
}

function settingsPage(): GeneratedFile {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => [
    code(name),
    setting.description,
    code(JSON.stringify(setting.defaultValue)),
    setting.variable === undefined ? '' : code(setting.variable),
    setting.tighten === undefined ? 'ignored' : 'may tighten it',
  ]);
  return {
    path: 'docs/reference/settings.md',
    text: formatPage('Settings', 'src/host/settings.ts', [
      'Settings stand in `~/.hookline/config.json` (`HOOKLINE_HOME` moves the directory) and in `.hookline/config.json` of a workspace. `hooks.enabled` is written as',
      '```json\n{ "hooks": { "enabled": true } }\n```',
      'Later ones win: defaults, your own file, the files of the workspace roots, environment variables, flags. The file of a workspace may only make stricter what the last column names; the rest of it is ignored, with a note. A setting that cannot be read is reported, and counts as not written. `schema/config.schema.json` describes the file for editors.',
      formatTable(
        ['Setting', 'What it means', 'Default', 'Environment variable', 'In a workspace'],
        rows,
      ),
    ]),
  };
}

function errorsPage(): GeneratedFile {
  return {
    path: 'docs/reference/errors.md',
    text: formatPage('Errors', 'src/base/errors.ts', [
      'When Hookline is used or configured wrongly, or when the machine refuses, it throws a `HooklineError` with a `code`, a `message` (what was expected, what was found, where) and mostly a `hint` (what to do). Recognise it with `isHooklineError(error)` and tell errors apart by `error.code`; codes do not change, messages may.',
      'A command prints `hookline: MESSAGE` and the hint below it, or, with `--json`, one object on stderr: `{"error": {"code", "message", "hint"}}`, where the code may also be `INTERNAL_ERROR`. Notes that come before the error are in `notes` of the same object.',
      'A hook that fails is not an error: its failure is part of the verdict.',
      formatTable(
        ['Code', 'When it occurs'],
        Object.entries(ERROR_CODES).map(([name, when]) => [code(name), when]),
      ),
    ]),
  };
}

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  fine: 'Everything is fine.',
  refused: 'The hooks refused, or a check of the command failed.',
  usage: 'The command line or the configuration is wrong.',
  hookFailed:
    'Under `--strict`: a hook failed, was not trusted, or does not count as it is written.',
  bug: 'Hookline contradicted itself. Please report it.',
  interrupted: 'Interrupted, for example with Ctrl-C.',
};

function exitCodesPage(): GeneratedFile {
  const meanings: Readonly<Record<string, string>> = EXIT_MEANINGS;
  return {
    path: 'docs/reference/exit-codes.md',
    text: formatPage('Exit codes', 'src/cli/exit-codes.ts', [
      'Every command of `hookline` ends with one of these. `hooks fire` ends with 1 when the verdict is `deny` or `stop`; `run` when it was refused, stopped by a hook, failed, went in circles or ran out of turns. A run that ends with a deferred call is fine.',
      formatTable(
        ['Code', 'Name', 'Meaning'],
        Object.entries(EXIT).map(([name, value]) => [
          code(String(value)),
          code(name),
          meanings[name] ?? '',
        ]),
      ),
    ]),
  };
}
