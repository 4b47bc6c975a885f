import type { HostGroup } from '../play.ts';
import { multi, post, preCases } from './calls.ts';
import { asynchronous, subagents, tasks, unfit } from './described.ts';
import { extra, misc } from './edges.ts';
import { elicitation } from './elicitation.ts';
import { continueFalse, preStop, stop } from './endings.ts';
import { frontMatter } from './front-matter.ts';
import { modelSwitch } from './model-switch.ts';
import { caps, denyWording, miscOut } from './outputs.ts';
import { modes, permissionRequest, permissionRules } from './permissions.ts';
import { sessionStart, userPrompts } from './prompts.ts';
import { agents, prompts } from './questions.ts';
import { envFile, preCompact, reload } from './sessions.ts';

export const HOST_GROUPS: readonly HostGroup[] = [
  preCases,
  preStop,
  multi,
  post,
  userPrompts,
  sessionStart,
  stop,
  envFile,
  prompts,
  agents,
  frontMatter,
  permissionRequest,
  permissionRules,
  modes,
  caps,
  miscOut,
  preCompact,
  extra,
  reload,
  denyWording,
  misc,
  continueFalse,
  subagents,
  asynchronous,
  unfit,
  tasks,
  modelSwitch,
  elicitation,
];
