import { describe, expect, test } from 'vitest';
import { PERMISSION_MODES } from '../../src/permissions/permissions.ts';
import { call, createMachine, open } from './session.ts';

/** rules · the call · its effect in default, acceptEdits, plan, bypassPermissions, dontAsk */
const TABLE = String.raw`
# Without rules, the mode decides.
-                                              · Read src/a.ts                        · allow allow allow allow allow
-                                              · Read ../outside.txt                  · ask   ask   ask   allow deny
-                                              · Read /etc/passwd                     · ask   ask   ask   allow deny
-                                              · Grep src                             · allow allow allow allow allow
-                                              · Grep ..                              · ask   ask   ask   allow deny
-                                              · Glob src/**/*.ts                     · allow allow allow allow allow
-                                              · Glob /etc/**                         · ask   ask   ask   allow deny
-                                              · Glob {../../,src}/**                 · ask   ask   ask   allow deny
-                                              · Edit src/a.ts                        · ask   allow deny  allow deny
-                                              · Write src/new.ts                     · ask   allow deny  allow deny
-                                              · NotebookEdit a.ipynb                 · ask   allow deny  allow deny
-                                              · Edit ../outside.txt                  · ask   ask   deny  allow deny
-                                              · Bash npm test                        · ask   ask   deny  allow deny
-                                              · Bash git status                      · allow allow deny  allow allow
-                                              · Bash cat src/a.ts | head -5          · allow allow deny  allow allow
-                                              · Bash cat /etc/passwd                 · ask   ask   deny  allow deny
-                                              · Bash mkdir -p src/b && touch src/b/c · ask   allow deny  allow deny
-                                              · Bash cp src/a.ts ../b                · ask   ask   deny  allow deny
-                                              · Bash rm src/a.ts                     · ask   ask   deny  allow deny
-                                              · WebFetch https://example.com/        · ask   ask   deny  allow deny
-                                              · mcp__files__read x                   · ask   ask   deny  allow deny
-                                              · TodoWrite x                          · allow allow allow allow allow
-                                              · AskUserQuestion x                    · allow allow allow allow allow
-                                              · ExitPlanMode x                       · ask   ask   ask   ask   deny
allow ExitPlanMode                             · ExitPlanMode x                       · ask   ask   ask   ask   deny
deny ExitPlanMode                              · ExitPlanMode x                       · deny  deny  deny  deny  deny

# Commands.
allow Bash(npm test)                           · Bash npm test                        · allow allow deny  allow allow
allow Bash(npm test)                           · Bash npm test -- x                   · ask   ask   deny  allow deny
allow Bash(npm run *)                          · Bash npm run build                   · allow allow deny  allow allow
allow Bash(npm:*); allow Bash(git push:*)      · Bash npm test && git push            · allow allow deny  allow allow
allow Bash(npm:*)                              · Bash npm test && git push            · ask   ask   deny  allow deny
allow Bash(npm:*)                              · Bash npm test | tail -3              · allow allow deny  allow allow
allow Bash(npm:*)                              · Bash npm test > out.txt              · ask   ask   deny  allow deny
allow Bash(npm:*)                              · Bash npm test $(rm x)                · ask   ask   deny  allow deny
allow Bash(npm:*)                              · Bash PATH=/tmp npm test              · ask   ask   deny  allow deny
allow Bash                                     · Bash anything $(at all)              · allow allow deny  allow allow
deny Bash(git push:*)                          · Bash git push origin                 · deny  deny  deny  deny  deny
deny Bash(git push:*); allow Bash              · Bash ls && git push                  · deny  deny  deny  deny  deny
deny Bash(git push:*); allow Bash              · Bash git pull                        · allow allow deny  allow allow
deny Bash(git push:*); allow Bash              · Bash $CMD                            · ask   ask   deny  ask   deny
ask Bash(git push:*); allow Bash               · Bash git push                        · ask   ask   deny  ask   deny
ask Bash(ls:*)                                 · Bash ls                              · ask   ask   deny  ask   deny
deny Bash                                      · Bash ls                              · deny  deny  deny  deny  deny

# Files.
deny Read(./secrets/**)                        · Read secrets/key                     · deny  deny  deny  deny  deny
deny Read(./secrets/**)                        · Grep secrets                         · deny  deny  deny  deny  deny
deny Read(./secrets/**)                        · Glob secrets/*                       · deny  deny  deny  deny  deny
deny Read(./secrets/**)                        · Bash cat secrets/key                 · deny  deny  deny  deny  deny
deny Read(./secrets/**)                        · Bash cat src/a.ts                    · allow allow deny  allow allow
deny Read(./secrets/**)                        · Edit secrets/key                     · ask   allow deny  allow deny
ask Read(*.env)                                · Read a.env                           · ask   ask   ask   ask   deny
deny Edit(src/**)                              · Write src/a.ts                       · deny  deny  deny  deny  deny
deny Edit(src/**)                              · NotebookEdit src/a.ipynb             · deny  deny  deny  deny  deny
deny Edit(src/**)                              · Bash echo x > src/a.ts               · deny  deny  deny  deny  deny
deny Edit(src/**)                              · Bash sed -i s/a/b/ src/a.ts          · deny  deny  deny  deny  deny
deny Edit(src/**)                              · Bash cat src/a.ts                    · allow allow deny  allow allow
deny Edit(src/**)                              · Read src/a.ts                        · allow allow allow allow allow
deny Edit                                      · Write src/a.ts                       · deny  deny  deny  deny  deny
allow Edit(src/**)                             · Write src/a.ts                       · allow allow deny  allow allow
allow Edit(src/**)                             · Write lib/a.ts                       · ask   allow deny  allow deny
allow Read(//etc/hosts)                        · Read /etc/hosts                      · allow allow allow allow allow
allow Edit(src/**); deny Edit(src/gen/**)      · Edit src/gen/a                       · deny  deny  deny  deny  deny

# Other tools.
allow WebFetch(domain:example.com)             · WebFetch https://example.com/x       · allow allow deny  allow allow
allow WebFetch(domain:example.com)             · WebFetch https://evil.com/           · ask   ask   deny  allow deny
deny WebFetch(domain:evil.com)                 · WebFetch https://EVIL.com./x         · deny  deny  deny  deny  deny
deny Agent(Explore)                            · Agent Explore                        · deny  deny  deny  deny  deny
deny Task(Explore)                             · Agent Explore                        · deny  deny  deny  deny  deny
deny Agent(Explore)                            · Agent Plan                           · allow allow allow allow allow
deny Skill(deploy)                             · Skill deploy                         · deny  deny  deny  deny  deny
allow mcp__files                               · mcp__files__read x                   · allow allow deny  allow allow
allow mcp__files__*                            · mcp__files__read x                   · allow allow deny  allow allow
allow mcp__files__read                         · mcp__files__write x                  · ask   ask   deny  allow deny
deny mcp__files                                · mcp__files__read x                   · deny  deny  deny  deny  deny
deny mcp__files                                · mcp__files2__read x                  · ask   ask   deny  allow deny
deny mcp__*                                    · mcp__files__read x                   · deny  deny  deny  deny  deny
allow *                                        · mcp__files__read x                   · ask   ask   deny  allow deny

# Protected places.
allow Edit                                     · Write .claude/settings.json          · ask   ask   deny  ask   deny
allow Edit                                     · Edit .clinerules/hooks/PreToolUse    · ask   ask   deny  ask   deny
allow Bash                                     · Bash hookline trust --yes            · ask   ask   deny  ask   deny
-                                              · Read .claude/settings.json           · allow allow allow allow allow
`;

const ROWS = TABLE.split('\n')
  .filter((line) => line.includes(' · '))
  .map((line) => {
    const [rules = '', asked = '', effects = ''] = line.split(' · ').map((cell) => cell.trim());
    return { rules, asked, effects: effects.split(/\s+/) };
  });

describe.each(ROWS)('$rules · $asked', ({ rules, asked, effects }) => {
  test(PERMISSION_MODES.map((mode, index) => `${mode}: ${effects[index]}`).join(', '), () => {
    const machine = createMachine({ 'ws/src/a.ts': '', 'ws/secrets/key': '' });
    const [name = '', ...about] = asked.split(' ');
    const ruleTexts = rules === '-' ? [] : rules.split('; ');
    const judged = PERMISSION_MODES.map((mode) =>
      open(machine, { mode, rules: ruleTexts }).judge(call(name, about.join(' '), machine.root)),
    );
    expect(judged.map(({ effect }) => effect)).toEqual(effects);
  });
});
