import { memoize } from '../../base/memoize.ts';

/**
 * How the tokens of services look, as the services and public scanners document it. Each shape is the
 * source of a regular expression of bounded work: what repeats without an end stands last, so that a
 * match always takes the whole run and no text is read twice.
 */
const TOKEN_SHAPES: Readonly<Record<string, readonly string[]>> = {
  // Code hosts and package registries.
  github: [String.raw`gh[opsur]_\w{30,}(?:\.[\w-]{8,}){0,2}`, String.raw`github_pat_\w{22,}`],
  gitlab: [
    String.raw`gl(?:pat|oas|dt|rt|rtr|ptt|cbt|ft|imt|agent|soat|ffct|wt)-[\w-]{16,}(?:\.[\w.]{4,})?`,
    String.raw`GR1348941[\w-]{20,}`,
  ],
  atlassian: [String.raw`AT(?:ATT|CTT|STT|BB)[\w=-]{24,}`, 'ATTA[0-9a-f]{64}'],
  npm: ['npm_[A-Za-z0-9]{36,}'],
  pypi: [String.raw`pypi-[\w-]{50,}`],
  rubygems: ['rubygems_[0-9a-f]{48}'],
  crates: ['cio[A-Za-z0-9]{32}(?![A-Za-z0-9])'],
  nuget: ['oy2[a-z0-9]{43}(?![A-Za-z0-9])'],
  docker: [String.raw`dckr_[op]at_[\w-]{20,}`],
  artifactory: ['AKCp[A-Za-z0-9]{60,}', 'cmVmdGtu[A-Za-z0-9]{50,}'],
  sourcegraph: ['sgp_(?:(?:local|[0-9a-f]{16})_)?[0-9a-f]{40}'],
  // Clouds and hosting.
  aws: [
    String.raw`A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:["',:;|\s]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?`,
    'ABSK[A-Za-z0-9+/=]{40,}',
    String.raw`bedrock-api-key-[\w+/=-]{40,}`,
    String.raw`amzn\.mws\.[0-9a-f-]{36}`,
  ],
  google: [
    String.raw`AIza[\w-]{35,}`,
    String.raw`ya29\.[\w.-]{20,}`,
    String.raw`GOCSPX-[\w-]{20,}`,
    String.raw`1//0[\w-]{40,}`,
    String.raw`AQ\.Ab[\w-]{30,}`,
  ],
  azure: [String.raw`[\w~.-]{3}\dQ~[\w~.-]{31,}`, '[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}'],
  alibaba: ['LTAI[A-Za-z0-9]{12,}'],
  tencent: ['AKID[A-Za-z0-9]{32,}'],
  yandex: [String.raw`AQVN[\w-]{35,}`],
  digitalocean: ['do[opr]_v1_[a-f0-9]{64}'],
  cloudflare: [String.raw`cf(?:ut|at|k)_\w{40,}`, 'v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}'],
  heroku: [String.raw`HRKU-[\w-]{30,}`],
  vercel: ['vc[pciark]_[A-Za-z0-9]{24,}', String.raw`vercel_blob_rw_\w{20,}`],
  netlify: ['nf[pcoub]_[A-Za-z0-9]{36,}'],
  fly: [String.raw`fo1_[\w-]{40,}`, 'fm[12][ar]?_[A-Za-z0-9+/=,]{60,}'],
  render: ['rnd_[A-Za-z0-9]{28,}'],
  deno: ['dd[op]_[A-Za-z0-9]{36}'],
  tailscale: [String.raw`tskey-[a-z]{2,12}-[\w-]{10,}`],
  pulumi: ['pul-[a-f0-9]{40}'],
  terraform: [String.raw`[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}`],
  vault: [String.raw`hv[sbr]\.[\w-]{24,}`],
  doppler: [String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}`],
  onepassword: [String.raw`ops_eyJ[\w-]{60,}`, 'A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){4,5}[A-Z0-9]{5}'],
  age: ['AGE-SECRET-KEY-1[0-9A-Z]{58}'],
  // Models.
  openai: [String.raw`sk-(?=[A-Za-z_-]{0,80}\d)[\w-]{20,}`],
  huggingface: ['hf_[A-Za-z0-9]{30,}', 'api_org_[A-Za-z0-9]{30,}'],
  groq: ['gsk_[A-Za-z0-9]{40,}'],
  xai: ['xai-[A-Za-z0-9]{40,}'],
  perplexity: ['pplx-[A-Za-z0-9]{40,}'],
  replicate: ['r8_[A-Za-z0-9]{30,}'],
  cerebras: ['csk-[a-z0-9]{40,}'],
  nvidia: [String.raw`nvapi-[\w-]{40,}`],
  together: [String.raw`tgp_v1_[\w-]{40,}`],
  tavily: [String.raw`tvly-(?=[A-Za-z_-]{0,80}\d)[\w-]{20,}`],
  langsmith: ['lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}'],
  elevenlabs: ['sk_[0-9a-f]{48}'],
  // Messages and mail.
  slack: [
    String.raw`xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}`,
    String.raw`xapp-\d-[\w-]{20,}`,
    String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}`,
  ],
  discord: [
    String.raw`[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}`,
    String.raw`discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/[\w-]{40,}`,
  ],
  teams: [String.raw`webhook\.office\.com/webhookb2/[\w@/-]{36,}`],
  telegram: [String.raw`(?:bot)?\d{8,10}:[A-Z][\w-]{34,}`],
  twilio: ['SK[0-9a-f]{32}(?![A-Za-z0-9])'],
  sendgrid: [String.raw`SG\.[\w-]{16,32}\.[\w-]{16,}`],
  mailgun: ['key-[0-9a-zA-Z]{32}(?![A-Za-z0-9])', '[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\\w-])'],
  mailchimp: [String.raw`[0-9a-f]{32}-us\d{1,2}(?!\w)`],
  brevo: [String.raw`x(?:key|smtp)sib-[a-f0-9]{64}-\w{16}`],
  resend: ['re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}'],
  // Payment and shops.
  stripe: ['[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}', 'whsec_[A-Za-z0-9+/=]{24,}'],
  shopify: ['shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32,}'],
  square: [String.raw`sq0(?:atp|csp|idp|idb)-[\w-]{22,}`],
  meta: [String.raw`(?<![/+])EAA(?=[\w-]{0,40}[G-Zg-z])(?!A{4})[\w-]{58,}`],
  paypal: [String.raw`access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`],
  razorpay: ['rzp_(?:live|test)_[A-Za-z0-9]{14,}'],
  plaid: ['access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'],
  easypost: ['EZ[AT]K[A-Za-z0-9]{54}'],
  shippo: ['shippo_(?:live|test)_[a-f0-9]{40}'],
  flutterwave: [String.raw`FLWSECK(?:_TEST)?-[\w-]{12,}`],
  // Work together.
  linear: ['lin_(?:api|oauth)_[A-Za-z0-9]{32,}'],
  notion: ['secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])', 'ntn_[A-Za-z0-9]{40,}'],
  figma: [String.raw`fig(?:dr|or|ur|d|o|u)_[\w-]{30,}`],
  airtable: [String.raw`pat[A-Za-z0-9]{14}\.[0-9a-f]{64}`],
  asana: [String.raw`[12]/\d{16}/\d{16}:[0-9a-f]{32}`],
  clickup: [String.raw`pk_\d{4,12}_[A-Z0-9]{32}`],
  hubspot: [String.raw`pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`],
  contentful: [String.raw`CFPAT-[\w-]{40,}`],
  typeform: [String.raw`tfp_[\w.-]{40,}`],
  dropbox: [String.raw`sl\.(?:u\.)?[\w-]{60,}`],
  postman: ['PMAK-[0-9a-f]{24}-[0-9a-f]{34}', 'PMAT-[A-Z0-9]{26}'],
  // Watching and building.
  newrelic: [
    'NRAK-[A-Z0-9]{27}',
    String.raw`NRII-[\w-]{32}`,
    'NRAA-[a-f0-9]{27}',
    '[a-f0-9]{30,40}NRAL(?![A-Za-z0-9])',
  ],
  datadog: ['dd(?:app|pat|p)_[A-Za-z0-9]{30,}'],
  sentry: [String.raw`sntry[su]_[\w=+/-]{40,}`],
  grafana: [
    'glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}',
    'glc_[A-Za-z0-9+/=]{32,}',
    'eyJrIjoi[\\w=+/]{40,}',
  ],
  honeycomb: ['hc[abn][a-z]{2}_[a-z0-9]{50,}'],
  dynatrace: [String.raw`dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}`],
  posthog: ['ph[sx]_[A-Za-z0-9]{40,}'],
  launchdarkly: ['(?:sdk|api|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'],
  sonar: ['sq[aup]_[0-9a-f]{40}'],
  circleci: ['CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}'],
  buildkite: ['bk(?:ua|ct|aj)_[0-9a-f]{40}'],
  prefect: ['pn[bu]_[A-Za-z0-9]{36}'],
  readme: ['rdme_[a-z0-9]{60,}'],
  // Data.
  supabase: ['sbp_(?:v0_)?[a-f0-9]{40}', String.raw`sb_secret_[\w-]{20,}`],
  planetscale: [String.raw`pscale_(?:tkn|pw|oauth)_[\w=.-]{30,}`],
  databricks: [String.raw`dapi[0-9a-f]{32}(?:-\d)?`],
  neon: ['napi_[a-z0-9]{50,}'],
  mapbox: [String.raw`sk\.eyJ[\w-]{20,200}\.[\w-]{16,}`],
};

// No token is shorter; most words are, and need not be compared with the shapes.
const LONG_ENOUGH = String.raw`(?=[\w.$~:/=+-]{15})`;

// Also after the escapes of JSON, URLs and terminals, which end in a letter or digit.
const WORD_START = String.raw`(?<=[^A-Za-z0-9]|^|\\[nrt]|%[0-9A-Fa-f]{2}|\x1b\[[\d;]{0,12}m)`;

// Up to the first part that repeats or looks ahead: `gh[opsur]_` of `gh[opsur]_\w{30,}`.
const BEGINNING = /^(?:(?:\\.|\[[^\]]*\]|\(\?:[^()]*\)|[^\\[(){}?*+|])(?![{?*+])){2,}/;

const getTokens = memoize(() => compileShapes(Object.values(TOKEN_SHAPES).flat()));
const getBeginnings = memoize(() => {
  const shapes = Object.values(TOKEN_SHAPES).flat();
  return compileShapes(shapes.map((shape) => BEGINNING.exec(shape)?.[0] ?? shape));
});

function compileShapes(shapes: readonly string[]): RegExp {
  return new RegExp(`${WORD_START}${LONG_ENOUGH}(?:${[...new Set(shapes)].join('|')})`, 'g');
}

/**
 * Finds the tokens of all services; only at the start of a word. Most texts have none of the beginnings, and
 * compiling the shapes takes a short command a tenth of its time.
 */
export function matchTokens(text: string): readonly RegExpExecArray[] {
  return text.search(getBeginnings()) === -1 ? [] : [...text.matchAll(getTokens())];
}

/** `ghp_xxxxxxxx…` in a manual. */
export function isSampleToken(token: string): boolean {
  return /x{8}|X{8}|\*{3}|\.{3}/u.test(token);
}
