import type { Asking } from '../../hooks/handler.ts';
import {
  CHANGE_NAMES,
  findCallVocabulary,
  findVocabulary,
  hasStandIn,
  isAgentVocabulary,
  listNamesOfCall,
  type ToolCall,
  VOCABULARIES,
  type Vocabulary,
} from '../../tool-vocabularies/tool-views.ts';
import { type Profile, PROFILES } from './events.ts';
import {
  EXPLAIN_BOTH,
  EXPLAIN_PARTIAL,
  listNamedProfiles,
  type ToolMentions,
} from './tool-mentions.ts';

/**
 * Chooses in which vocabularies a hook is asked about a call, so that it sees the tool that it names: the
 * called name when its text has it, else its profile, and any vocabulary whose name of this tool it may
 * know. Empty means its profile alone.
 */
export function chooseAskings(
  mentions: ToolMentions,
  profile: Profile,
  call: ToolCall,
): readonly Asking[] {
  const own = findCallVocabulary(call);
  if (own === null) return [];
  const called = findCalledAsking(mentions, own, call);
  const askings = called === null ? listOtherAskings(mentions, profile, own, call) : [called];
  const [first, second] = askings;
  const isPlain =
    first?.vocabulary === profile && second === undefined && !hasFormerName(first, call);
  // `tool_call` has the SDK's name in a payload of the profile; a hook that reads it must see this one.
  return isPlain && !(mentions.readsSdkKeys && profile === 'classic') ? [] : askings;
}

function hasFormerName({ vocabulary, isAsCalled }: Asking, call: ToolCall): boolean {
  return isAsCalled && !listNamesOfCall(call, vocabulary).includes(call.name);
}

/** Returns the asking in the call's own vocabulary when the text names the called tool in it. */
function findCalledAsking(
  { named }: ToolMentions,
  vocabulary: Vocabulary,
  call: ToolCall,
): Asking | null {
  // A tool of another agent may share its name with one of ours and have other fields: then the hook
  // is asked about ours.
  if (isAgentVocabulary(vocabulary) && findVocabulary(call.name) !== null) return null;
  if (named.has(call.name)) {
    return { vocabulary, isAsCalled: true, why: `its text names ${call.name}` };
  }
  const name = listNamesOfCall(call, vocabulary).find((each) => named.has(each));
  return name === undefined
    ? null
    : { vocabulary, isAsCalled: false, why: `its text names ${name}` };
}

function listOtherAskings(
  mentions: ToolMentions,
  profile: Profile,
  own: Vocabulary,
  call: ToolCall,
): readonly Asking[] {
  const namedProfiles = listNamedProfiles(mentions, profile);
  const inProfiles = [profile, ...PROFILES.filter((other) => other !== profile)].flatMap(
    (vocabulary): readonly Asking[] => {
      const why = explainProfile(mentions, namedProfiles, vocabulary, call);
      return why === null ? [] : [{ vocabulary, isAsCalled: false, why }];
    },
  );
  const shared = isAgentVocabulary(own) ? findVocabulary(call.name) : null;
  const called = shared ?? own;
  const isAsked = inProfiles.some(({ vocabulary }) => vocabulary === called);
  const mayKnow = mentions.mayKnowCalled(call.name) || mentions.isPartial;
  const why = mentions.isPartial ? EXPLAIN_PARTIAL : `its text may mean ${call.name}`;
  const all =
    isAsked || !mayKnow
      ? inProfiles
      : [...inProfiles, { vocabulary: called, isAsCalled: shared === null, why }];
  return omitEqualNames([...all, ...listNamedAskings(mentions, all, call)], call);
}

/** Adds the vocabulary in which its text names the tool when it would see no name that it knows. */
function listNamedAskings(
  mentions: ToolMentions,
  askings: readonly Asking[],
  call: ToolCall,
): readonly Asking[] {
  if (isKnown(mentions, listAskedNames(askings, call), call)) return [];
  return VOCABULARIES.flatMap((vocabulary): readonly Asking[] => {
    const name = listNamesOfCall(call, vocabulary).find((each) => mentions.named.has(each));
    if (name === undefined) return [];
    return [{ vocabulary, isAsCalled: false, why: `its text names ${name}` }];
  });
}

function listAskedNames(askings: readonly Asking[], call: ToolCall): readonly string[] {
  return askings.flatMap(({ vocabulary, isAsCalled }) =>
    isAsCalled ? [call.name] : listNamesOfCall(call, vocabulary),
  );
}

function isKnown(mentions: ToolMentions, names: readonly string[], call: ToolCall): boolean {
  return names.some(
    (name) =>
      mentions.named.has(name) ||
      mentions.mayKnow(name) ||
      (name === call.name && mentions.mayKnowCalled(name)),
  );
}

/**
 * Explains why an answer of a hook about a call says nothing: it knows no name under which it sees the
 * tool, although its text names this tool in another vocabulary (its profile was set by hand), or names
 * tools that change files while another tool stands for the called one. Null for any other call.
 */
export function explainUnknownName(
  mentions: ToolMentions,
  profile: Profile,
  askings: readonly Asking[],
  call: ToolCall,
): string | null {
  if (mentions.isPartial || findCallVocabulary(call) === null) return null;
  const vocabularies = askings.length > 0 ? askings.map(({ vocabulary }) => vocabulary) : [profile];
  const visibleNames = new Set([
    ...(askings.length > 0 ? listAskedNames(askings, call) : listNamesOfCall(call, profile)),
    ...(mentions.readsSdkKeys ? listNamesOfCall(call, 'sdk') : []),
  ]);
  if (isKnown(mentions, [...visibleNames], call)) return null;
  const meant = VOCABULARIES.flatMap((vocabulary) => listNamesOfCall(call, vocabulary));
  const alike = vocabularies.some((each) => hasStandIn(call, each)) ? [...CHANGE_NAMES] : [];
  const names = new Set([call.name, ...meant, ...alike].filter((each) => mentions.named.has(each)));
  if (names.size === 0) return null;
  const visible = [...visibleNames].join(', ');
  const view = visible === call.name ? visible : `${call.name} as ${visible}`;
  return `it sees ${view}, a name that its text does not know; its text names ${[...names].join(', ')}`;
}

/** Explains why a hook is asked in a vocabulary of Cline; null when it is not. */
function explainProfile(
  mentions: ToolMentions,
  namedProfiles: readonly Profile[],
  vocabulary: Profile,
  call: ToolCall,
): string | null {
  if (namedProfiles.length > 1) {
    return mentions.isPartial ? EXPLAIN_PARTIAL : EXPLAIN_BOTH;
  }
  if (namedProfiles.includes(vocabulary)) return `its profile is ${vocabulary}`;
  const name = listNamesOfCall(call, vocabulary).find(
    (each) => mentions.named.has(each) || mentions.mayKnow(each),
  );
  return name === undefined ? null : `its text may mean ${name}`;
}

/** A second asking under the same names would show the same call again. */
function omitEqualNames(askings: readonly Asking[], call: ToolCall): readonly Asking[] {
  const formatNames = ({ vocabulary, isAsCalled }: Asking): string =>
    isAsCalled ? call.name : listNamesOfCall(call, vocabulary).join(' ');
  return askings.filter((asking, index) => {
    const names = formatNames(asking);
    return !askings.slice(0, index).some((other) => formatNames(other) === names);
  });
}
