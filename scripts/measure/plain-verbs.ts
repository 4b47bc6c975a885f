/**
 * The verbs with which an exported function may start: each names a mechanism. `is`, `has`, `can` and
 * `should` start predicates; `to` and `from` convert; `with` makes a copy with a change.
 */
const PLAIN_VERBS = new Set(
  `
  abort accept acquire add allocate announce answer append apply approve ask assert assign
  attach await begin bind block broadcast build call can cancel capture catch check choose
  clamp clean clear close collect combine compact compare compile complete compute configure
  confirm connect consume convert copy count create cut debounce decide decode dedupe define
  delete deliver deny derive describe deserialize detach detect diff disable discard
  disconnect discover dispatch dispose download drain drop edit elicit emit enable encode end
  enforce enqueue ensure enter escape estimate evaluate examine execute exit expand expect
  explain export expose extend extract fail fetch fill filter find finish fire fit flatten
  flush follow fork format forward freeze from generate get grant group guard handle has hash
  hide import indent infer inherit init insert inspect install instrument interrupt intersect
  invalidate invoke is isolate issue iterate join judge kill launch limit link list listen
  load locate lock log lookup map mark match measure memoize merge migrate move mutate
  negotiate normalize note notify number observe omit open order override pack parse partition
  pass paste patch pause pick ping plan poll pop prepare prepend preserve print probe process
  produce protect prune publish push put query queue quote raise read rebuild receive
  reconnect record redact redirect reduce refresh refuse register reject release reload remove
  rename render reopen reorder repair repeat replace replay report request require reset
  resolve respond restart restore restrict resume retrieve retry return revert review revive
  revoke rewrite rotate run sanitize save scan schedule seal search select send serialize
  serve set share shorten should show shut sign skip snapshot sort spawn split stage start
  stop store stream strip submit subscribe suggest summarize suspend switch synthesize
  terminate test throw to toggle tokenize touch track transform translate transpile traverse
  trim truncate trust try unbind uninstall unlink unlock unpack unregister unsubscribe untrust
  unwrap update upgrade use validate verify visit wait walk warn watch widen with wrap write
`
    .trim()
    .split(/\s+/),
);

/** Functions that keep another name, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  invariant: 'the name under which every library has this assertion',
  safeJsonParse: 'a name that plugins import from a package of Cline',
  safeJsonStringify: 'a name that plugins import from a package of Cline',
  zodToJsonSchema: 'a name that plugins import from a package of Cline',
};

/** Whether a function's name starts with a plain verb. `nameOf` starts with a noun, and so does `listOf`. */
export function startsWithPlainVerb(name: string): boolean {
  if (name in EXCEPTIONS) return true;
  const firstWord = /^[a-z]+/u.exec(name)?.[0] ?? '';
  return PLAIN_VERBS.has(firstWord) && !name.endsWith('Of');
}

export function describeVerbs(): string {
  const exceptions = Object.entries(EXCEPTIONS).map(([name, reason]) => `${name} (${reason})`);
  return `${PLAIN_VERBS.size} verbs in scripts/measure/plain-verbs.ts; exceptions: ${exceptions.join(', ')}`;
}
