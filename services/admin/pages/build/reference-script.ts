import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';

/** The package whose module contains the reference page's script as a string. */
const source = '@scalar/fastify-api-reference';
const beginning = 'var standalone_default = ';

/** Where the script's first statement ends, which adds its styles to the page. */
const endOfStyles = '})();';

/**
 * Writes the API reference's script and styles to the directory, and loads them in `docs.html`. The styles become a
 * file because styles that a script adds would need a wider policy.
 */
export function addReferenceScript(directory: string): void {
  const script = readScript();
  const end = script.indexOf(endOfStyles) + endOfStyles.length;
  const styles = stylesOf(script.slice(0, end));
  const assets = [
    ['css', styles],
    ['js', script.slice(end)],
  ] as const;
  const [style, code] = assets.map(([extension, text]) => {
    const name = `assets/scalar-${createHash('sha256').update(text).digest('base64url').slice(0, 8)}.${extension}`;
    writeFileSync(join(directory, name), text);
    return `/_/${name}`;
  });
  const page = join(directory, 'docs.html');
  const html = readFileSync(page, 'utf8');
  // The page's own styles and module must come later.
  const tags = `<link rel="stylesheet" href="${style}">\n    <script defer src="${code}"></script>\n    `;
  writeFileSync(page, html.replace('<script type="module"', `${tags}<script type="module"`));
}

function readScript(): string {
  const module = readFileSync(createRequire(import.meta.url).resolve(source), 'utf8');
  const line = module.split('\n').find((text) => text.startsWith(beginning));
  const script: unknown = line && runInContext(line.slice(beginning.length), createContext());
  if (typeof script !== 'string') throw new Error(`${source} no longer has its script where this build expects it.`);
  return script;
}

/** Runs the statement that adds the styles against a fake document that records them. */
function stylesOf(statement: string): string {
  const texts: string[] = [];
  const element = { setAttribute() {}, appendChild: (text: string) => texts.push(text) };
  const document = {
    createElement: () => element,
    createTextNode: (text: string) => text,
    head: { querySelector: () => null, appendChild() {} },
  };
  runInContext(statement, createContext({ document, console }));
  const [styles, ...more] = texts;
  if (styles === undefined || more.length > 0)
    throw new Error(`${source} no longer adds its styles the way this build expects.`);
  return styles;
}
