import type { Group } from '../fixture.ts';
import { preCases } from './answers/03-pre-cases.ts';
import { preStop } from './answers/04-pre-stop.ts';
import { multi } from './answers/05-multi.ts';
import { post } from './answers/06-post.ts';
import { userPromptSubmit } from './answers/07-ups.ts';
import { sessionStart } from './answers/08-sessionstart.ts';
import { stop } from './answers/09-stop.ts';
import { onFailure } from './answers/25-onfailure.ts';
import { extra } from './answers/42-extra.ts';
import { denyWording } from './answers/46-denyfmt.ts';
import { misc2 } from './answers/49-misc2.ts';
import { continueFalse } from './answers/51-contfalse.ts';
import { permissionRequest } from './events/28-permreq.ts';
import { permissionRules } from './events/29-permrules.ts';
import { modes } from './events/30-modes.ts';
import { modelSwitch } from './events/35-modelswitch.ts';
import { caps } from './events/38-caps.ts';
import { miscOut } from './events/39-misc-out.ts';
import { preCompact } from './events/40-precompact.ts';
import { elicitations } from './events/47-elicit2.ts';
import { exitTwo } from './events/exit-2.ts';
import { taskAlias } from './matching/10-task-alias.ts';
import { matchers } from './matching/11-matchers.ts';
import { conditions } from './matching/12-if.ts';
import { moreConditions } from './matching/12b-if-more.ts';
import { dedupe } from './matching/13-dedupe.ts';
import { dedupeOrder } from './matching/14-dedupe-order.ts';
import { timeouts } from './running/15-timeout.ts';
import { shells } from './running/16-shell.ts';
import { envFile } from './running/17-envfile.ts';
import { http } from './running/21-http.ts';
import { prompts } from './running/22-prompt.ts';
import { agents } from './running/23-agent.ts';
import { asynchronous } from './running/24-async.ts';
import { mcpTools } from './running/31-mcp-tool.ts';
import { stdin } from './running/45-stdin.ts';
import { fieldNotes } from './running/field-notes.ts';
import { invalidEach } from './sources/18b-invalid-each.ts';
import { invalidJson } from './sources/19-invalid-json.ts';
import { subdirectory } from './sources/20-subdir.ts';
import { plugins } from './sources/26-plugin.ts';
import { frontMatter } from './sources/27-frontmatter.ts';
import { disabling } from './sources/37-disable-managed.ts';
import { reload } from './sources/43-reload.ts';

export const GROUPS: readonly Group[] = [
  preCases,
  preStop,
  multi,
  post,
  userPromptSubmit,
  sessionStart,
  stop,
  matchers,
  conditions,
  moreConditions,
  dedupe,
  dedupeOrder,
  timeouts,
  shells,
  envFile,
  invalidEach,
  invalidJson,
  subdirectory,
  http,
  prompts,
  agents,
  onFailure,
  plugins,
  frontMatter,
  permissionRequest,
  permissionRules,
  modes,
  modelSwitch,
  disabling,
  caps,
  miscOut,
  preCompact,
  extra,
  reload,
  denyWording,
  elicitations,
  misc2,
  continueFalse,
  exitTwo,
  taskAlias,
  asynchronous,
  mcpTools,
  stdin,
  fieldNotes,
];
