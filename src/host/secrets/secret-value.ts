const VARIABLE =
  /^\\?\$|^%[A-Za-z_]\w*%|\$\{|\$\(|\{\{|^[#@]\{|^<[^>]*>?|^!(?:Ref|Sub|secret|vault)\b|^\[redacted/i;
const LOOKUP =
  /\b(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|getenv|Deno\.env|Bun\.env|env::var|secrets\.[A-Z_]|vars\.[A-Z_]|ENV\[)/;
const REPEATED = /^(.)\1*$|x{4}|X{4}|\*{3}|\.{3}|…|•/;
const FILLER =
  /^(?:your|my|an?|the|insert|replace|enter|add|put|some|dummy|fake|sample|example|placeholder|change|changeme|todo|tbd|none|null|nil|undefined|true|false|yes|no|on|off|empty|required|optional|string|str|number|int|integer|bool|boolean|bytes|text|any|unknown|object|never|void|char|self|this|auto|default|hidden|masked|secret|redacted|missing|unset|invalid|valid|is|was|test|varchar)(?:[-_ .][a-z]+)*[!?.,;]?$/i;

/** Whether a value stands for a secret: a variable, a gap to fill in, stars. */
export function isPlaceholder(text: string): boolean {
  return VARIABLE.test(text) || LOOKUP.test(text) || REPEATED.test(text) || FILLER.test(text);
}

/** Letters only: a word, a type, or the name of a variable. */
export function isPlainWord(text: string): boolean {
  return /^[A-Za-z_$]+[?!]?$/.test(text);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Letters and digits mixed as a generator does. */
export function isRandom(text: string): boolean {
  return (
    /\d/.test(text) && /[A-Za-z]/.test(text) && !UUID.test(text) && !/^v?\d+(?:\.\d+)+/.test(text)
  );
}
