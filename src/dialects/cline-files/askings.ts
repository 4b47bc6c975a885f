import type { Asking } from '../../hooks/handler.ts';
import {
  findCallVocabulary,
  listNamesOfCall,
  type ToolCall,
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
  const isAsked = inProfiles.some(({ vocabulary }) => vocabulary === own);
  const mayKnow = mentions.mayKnowCalled(call.name) || mentions.isPartial;
  const why = mentions.isPartial ? EXPLAIN_PARTIAL : `its text may mean ${call.name}`;
  const all =
    isAsked || !mayKnow ? inProfiles : [...inProfiles, { vocabulary: own, isAsCalled: true, why }];
  return omitEqualNames(all, call);
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
