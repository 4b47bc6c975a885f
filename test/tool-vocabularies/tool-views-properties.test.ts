import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRecord } from '../../src/base/json.ts';
import {
  rewriteInput,
  listToolNames,
  formatResult,
  listToolViews,
  VOCABULARIES,
  detectVocabulary,
  type ViewContext,
  type ToolCall,
} from '../../src/tool-vocabularies/tool-views.ts';

const context: ViewContext = {
  cwd: '/ws/sub',
  root: '/ws',
  readText: (file) => (file.includes('a') ? 'one\ntwo\n' : null),
};

const CHANGING = 'Write Edit MultiEdit write_to_file replace_in_file editor apply_patch'.split(' ');
const NAMES = [
  CHANGING.join(' '),
  'Read Bash Grep Glob WebFetch WebSearch Agent Task TodoWrite TaskCreate AskUserQuestion Skill',
  'NotebookEdit mcp__s__t s__t read_file execute_command search_files list_files web_fetch',
  'web_search new_task focus_chain ask_followup_question use_mcp_tool use_skill read_files',
  'run_commands search_codebase fetch_web_content spawn_agent ask_question skills deploy',
  'constructor __proto__',
].flatMap((names) => names.split(' '));
const KEYS = [
  'path file_path content diff old_string new_string old_text new_text insert_line input edits',
  'command commands cmd args files paths queries requests url pattern regex questions question',
  'options todos task_progress server_name tool_name arguments start_line __proto__',
].flatMap((keys) => keys.split(' '));
const PIECES = [
  '*** Update File: a|*** Add File: b|*** Delete File: a|*** Move to: c|@@|-x|+y| z|q||\r',
  '*** End of File|*** End Patch|------- SEARCH|=======|+++++++ REPLACE|<<<<<<< SEARCH',
  '>>>>>>> REPLACE|- [ ] do|["x"]|{}',
].flatMap((pieces) => pieces.split('|'));

const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((all) => all.join('\n'));
const value = fc.oneof(text, fc.anything({ withNullPrototype: true, withBigInt: true }));
const likely = fc.dictionary(
  fc.constantFrom(...KEYS),
  fc.oneof(value, fc.array(value, { maxLength: 3 })),
  { maxKeys: 5 },
);
const anyInput = fc.oneof(likely, value, fc.array(fc.oneof(likely, value), { maxLength: 3 }));
const anyCall: fc.Arbitrary<ToolCall> = fc.record({ name, input: anyInput });

const line = fc.string({ maxLength: 8 }).filter((each) => !/[\r\n=]|SEARCH|REPLACE/.test(each));
const lines = fc.array(line, { maxLength: 3 });
const path = fc.constantFrom('a.ts', 'src/b.ts', '/ws/c.ts', '/else/d', '../e', '~/f');
const block = fc
  .record({ search: lines, replace: lines })
  .map(({ search, replace }) =>
    ['------- SEARCH', ...search, '=======', ...replace, '+++++++ REPLACE'].join('\n'),
  );
const hunk = fc
  .record({ context: line, removed: lines, added: lines })
  .map((each) => [
    '@@',
    ` ${each.context}`,
    ...each.removed.map((text) => `-${text}`),
    ...each.added.map((text) => `+${text}`),
  ]);
const section = fc.oneof(
  fc
    .tuple(path, lines)
    .map(([file, added]) => [`*** Add File: ${file}`, ...added.map((each) => `+${each}`)]),
  path.map((file) => [`*** Delete File: ${file}`]),
  fc
    .tuple(path, fc.array(hunk, { minLength: 1, maxLength: 3 }))
    .map(([file, hunks]) => [`*** Update File: ${file}`, ...hunks.flat()]),
  fc
    .tuple(path, path, fc.array(hunk, { maxLength: 2 }))
    .map(([file, target, hunks]) => [
      `*** Update File: ${file}`,
      `*** Move to: ${target}`,
      ...hunks.flat(),
    ]),
);
const optional = { requiredKeys: [] as never[] };
const wellFormed: fc.Arbitrary<ToolCall> = fc.oneof(
  fc.record({
    name: fc.constant('apply_patch'),
    input: fc.array(section, { minLength: 1, maxLength: 4 }).map((all) => ({
      input: ['*** Begin Patch', ...all.flat(), '*** End Patch'].join('\n'),
    })),
  }),
  fc.record({
    name: fc.constant('replace_in_file'),
    input: fc.record({
      path,
      diff: fc.array(block, { minLength: 1, maxLength: 3 }).map((all) => all.join('\n')),
    }),
  }),
  fc.record({
    name: fc.constant('read_files'),
    input: fc.record({
      files: fc.array(
        fc.oneof(
          path,
          fc.tuple(path, fc.nat(), fc.nat()).map(([file, start, more]) => ({
            path: file,
            start_line: start,
            end_line: start + more,
          })),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  }),
  fc.record({
    name: fc.constant('run_commands'),
    input: fc.record({ commands: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
  }),
  fc.record({
    name: fc.constant('Bash'),
    input: fc.record({ command: fc.string(), timeout: fc.nat() }),
  }),
  fc.record({
    name: fc.constant('Grep'),
    input: fc
      .tuple(fc.string(), fc.record({ path, glob: fc.string() }, optional))
      .map(([pattern, rest]) => ({ pattern, ...rest })),
  }),
  fc.record({
    name: fc.constant('editor'),
    input: fc
      .tuple(path, fc.string(), fc.record({ insert_line: fc.nat({ max: 4 }) }, optional))
      .map(([file, written, rest]) => ({ path: file, new_text: written, ...rest })),
  }),
);

const severalParts = wellFormed.filter((call) =>
  VOCABULARIES.some((each) => listToolViews(call, each, context).length > 1),
);

describe('for any call', () => {
  test('there is at least one view in every vocabulary, with a name and never an exception', () => {
    fc.assert(
      fc.property(anyCall, fc.constantFrom(...VOCABULARIES), (call, vocabulary) => {
        const views = listToolViews(call, vocabulary, context);
        expect(views.length).toBeGreaterThan(0);
        for (const view of views) {
          expect(listToolNames(call, view)).toContain(call.name);
          const result = { response: undefined, text: 'x', success: true };
          formatResult(call, result, vocabulary, view.part);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('a change of a file is an Edit or a Write for Claude, and a change for the others', () => {
    const change = fc.record({ name: fc.constantFrom(...CHANGING), input: anyInput });
    fc.assert(
      fc.property(change, (call) => {
        for (const view of listToolViews(call, 'claude', context)) {
          expect(['Edit', 'Write']).toContain(view.name);
        }
        for (const view of listToolViews(call, 'classic', context)) {
          expect(['replace_in_file', 'write_to_file']).toContain(view.name);
        }
        for (const view of listToolViews(call, 'sdk', context)) {
          expect(['editor', 'apply_patch']).toContain(view.name);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('any rewrite gives an answer and leaves every other part alone', () => {
    fc.assert(
      fc.property(
        anyCall,
        fc.constantFrom(...VOCABULARIES),
        anyInput,
        fc.nat({ max: 3 }),
        (call, vocabulary, input, part) => {
          const views = listToolViews(call, vocabulary, context);
          detectVocabulary(call, input);
          const view = views[part % views.length];
          const rewriteRequest = { vocabulary, part: view?.part ?? null, input };
          expect([true, false]).toContain(rewriteInput(call, rewriteRequest, context).ok);
        },
      ),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(
        severalParts,
        fc.constantFrom(...VOCABULARIES),
        fc.oneof(anyInput, fc.dictionary(fc.constantFrom(...KEYS), text, { maxKeys: 3 })),
        fc.nat({ max: 3 }),
        (call, vocabulary, changes, part) => {
          const views = listToolViews(call, vocabulary, context);
          const at = part % views.length;
          const view = views[at];
          const input = isRecord(changes) ? { ...(view?.input as object), ...changes } : changes;
          const rewriteRequest = { vocabulary, part: view?.part ?? null, input };
          const rewritten = rewriteInput(call, rewriteRequest, context);
          fc.pre(rewritten.ok && views.length > 1);
          const after = listToolViews(
            { name: call.name, input: rewritten.input },
            vocabulary,
            context,
          );
          expect(after.toSpliced(at, 1)).toEqual(views.toSpliced(at, 1));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a rewrite with the input of a view changes nothing', () => {
    fc.assert(
      fc.property(anyCall, fc.constantFrom(...VOCABULARIES), (call, vocabulary) => {
        for (const { part, input } of listToolViews(call, vocabulary, context)) {
          const rewritten = rewriteInput(call, { vocabulary, part, input }, context);
          if (rewritten.ok) expect(rewritten.input).toEqual(call.input);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('a cyclic input is converted and rewritten like any other', () => {
    const input: Record<string, unknown> = { path: 'a', command: 'ls' };
    input['self'] = input;
    for (const each of NAMES) {
      for (const vocabulary of VOCABULARIES) {
        const call = { name: each, input };
        const [view] = listToolViews(call, vocabulary, context);
        expect(view?.name.length).toBeGreaterThan(0);
        rewriteInput(call, { vocabulary, part: null, input: { ...input } }, context);
      }
    }
  });
});

describe('for a well-formed call', () => {
  test('a rewrite with the input of a view leaves the input equal', () => {
    fc.assert(
      fc.property(wellFormed, fc.constantFrom(...VOCABULARIES), (call, vocabulary) => {
        for (const { part, input } of listToolViews(call, vocabulary, context)) {
          expect(rewriteInput(call, { vocabulary, part, input }, context)).toEqual({
            ok: true,
            input: call.input,
          });
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('a rewrite of one part appears in that part and in no other', () => {
    const textOf: Readonly<Record<string, string>> = {
      Write: 'content',
      Edit: 'new_string',
      Bash: 'command',
      Grep: 'pattern',
      Read: 'file_path',
    };
    fc.assert(
      fc.property(wellFormed, fc.nat(), lines, (call, pick, fresh) => {
        const views = listToolViews(call, 'claude', context);
        const at = pick % views.length;
        const view = views[at];
        const key = textOf[view?.name ?? ''] ?? '';
        const expectedValue = key === 'file_path' ? '/x/y' : fresh.join('\n');
        const input = { ...(view?.input as object), [key]: expectedValue };
        const rewriteRequest = { vocabulary: 'claude', part: view?.part ?? null, input } as const;
        const rewritten = rewriteInput(call, rewriteRequest, context);
        fc.pre(rewritten.ok);
        const after = listToolViews({ name: call.name, input: rewritten.input }, 'claude', context);
        expect(after).toEqual(views.with(at, { ...(view ?? { name: '', part: null }), input }));
      }),
      { numRuns: 1000 },
    );
  });
});
