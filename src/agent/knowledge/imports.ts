/** The paths that a text of instructions brings in as `@path`, as they are written; not those in code. */
export function findImports(text: string): readonly string[] {
  const found = [...withoutCode(text).matchAll(IMPORT)].map(([, written = '']) =>
    written.replace(/[.,;:!?)\]}'"]+$/, ''),
  );
  return [...new Set(found.filter((written) => written !== ''))];
}

const IMPORT = /(?<![^\s(["'])@((?:~\/|\.{1,2}\/|\/)?[\w.-][^\s`]*)/g;

function withoutCode(text: string): string {
  return withoutFences(text).replaceAll(/`[^`\n]*`/g, '');
}

/** An unfinished block goes on to the end, as in any reader of markdown. */
function withoutFences(text: string): string {
  let fence: string | null = null;
  const outside = text.split('\n').filter((line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null) {
      fence = mark;
      return mark === null;
    }
    if (mark !== null && mark.startsWith(fence)) fence = null;
    return false;
  });
  return outside.join('\n');
}
