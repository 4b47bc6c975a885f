import { describe, expect, test } from 'vitest';
import { detectProfile } from '../../../src/dialects/cline-files/read-hook-files.ts';

const ofText = (text: string): string => detectProfile('PreToolUse', text);

describe('the profile is guessed', () => {
  test('from whole words, not from parts of words', () => {
    expect(
      ['"tool_call"', '.tool_result.output', 'my_tool_calls', 'PreToolUse', ''].map(ofText),
    ).toEqual(['sdk', 'sdk', 'classic', 'classic', 'classic']);
  });

  test.each([
    ['execute_command', 'classic'],
    ['run_commands', 'sdk'],
    ['execute_command run_commands', 'classic'],
    ['execute_command run_commands tool_call preToolUse', 'sdk'],
    ['write_to_file replace_in_file run_commands', 'classic'],
    ['read_file run_commands read_files', 'sdk'],
    ['read_file read_file read_file run_commands read_files', 'sdk'],
    ['.sessionContext.rootSessionId', 'sdk'],
  ])('from the generation of which more tools are named: %s', (text, profile) => {
    expect(ofText(text)).toBe(profile);
  });

  test('as classic where apply_patch, which both have, stands among classic tools', () => {
    expect(['apply_patch', 'write_to_file|apply_patch'].map(ofText)).toEqual(['sdk', 'classic']);
  });

  test('from `editor` only where it stands in quotes or between bars', () => {
    expect(
      ['== "editor"', 'read_file|editor|read_files)', 'your editor, the editor'].map(ofText),
    ).toEqual(['sdk', 'sdk', 'classic']);
  });

  test('as sdk, whatever tools are named, where the keys of the SDK come first', () => {
    const texts = [
      '.tool_call.name // .preToolUse.toolName',
      'payload["tool_call"] or payload["preToolUse"]',
      '.tool_result.name',
      '.preToolUse.toolName // .tool_call.name',
      'tool_call = payload["preToolUse"]',
    ];
    const profiles = texts.map((text) => ofText(`${text} write_to_file replace_in_file`));
    expect(profiles).toEqual(['sdk', 'sdk', 'sdk', 'classic', 'classic']);
  });

  test.each(['# ', '// ', '/* ', ' * ', '\t# '])('from comments (%j) only without code', (mark) => {
    const comment = `${mark}read_file write_to_file execute_command`;
    expect(
      [`${comment}\n[ "$t" = run_commands ]`, `${mark}run_commands\nexec guard`].map(ofText),
    ).toEqual(['sdk', 'sdk']);
    expect(ofText(`${comment}\nexec guard`)).toBe('classic');
  });

  test('from the arms of a shell’s case, which are no comments', () => {
    expect(ofText('*) exit ;;\n*run_commands*) deny ;;')).toBe('sdk');
  });

  test('as sdk for moments that only the SDK has', () => {
    expect([detectProfile('TaskError', ''), detectProfile('SessionShutdown', 'read_file')]).toEqual(
      ['sdk', 'sdk'],
    );
  });
});
