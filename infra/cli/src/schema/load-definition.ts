import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@recordbus/errors';

/** The definition in a TypeScript file, or why it cannot be loaded. */
type Loaded = { readonly value: unknown } | { readonly problem: string; readonly line: number | undefined };

const authorsPackage = '@recordbus/extensions';
let isHooked = false;

/**
 * Lets files import the authors' package from any directory, as extensions can. They are modules whatever the
 * `package.json` above them says: `npm init` writes `"type": "commonjs"` there.
 */
function hookPackage(): void {
  if (isHooked) return;
  isHooked = true;
  const url = import.meta.resolve(authorsPackage);
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === authorsPackage ? { url, shortCircuit: true } : next(specifier, context),
    load: (file, context, next) =>
      next(file, /^file:.*\.ts$/.test(file) ? { ...context, format: 'module-typescript' } : context),
  });
}

/** Loads the definition that a TypeScript file exports as `collection`. It runs the file. */
export async function loadDefinition(file: string): Promise<Loaded> {
  hookPackage();
  const { href } = pathToFileURL(resolve(file));
  try {
    const module: { readonly collection?: unknown } = await import(href);
    const { collection } = module;
    return { value: collection === undefined ? undefined : JSON.parse(JSON.stringify(collection)) };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const place = text.indexOf(`${href}:`);
    const line = place < 0 ? undefined : Number.parseInt(text.slice(place + href.length + 1), 10);
    const problem = `cannot be loaded: ${messageOf(error)}`;
    return { problem, line: line !== undefined && line > 0 ? line : lineOfSource(text, resolve(file)) };
  }
}

/** Reads a syntax error's line, which is before the message, after the path. */
function lineOfSource(text: string, path: string): number | undefined {
  const place = text.indexOf(`${path}:`);
  const line = place < 0 ? Number.NaN : Number.parseInt(text.slice(place + path.length + 1), 10);
  return Number.isInteger(line) ? line : undefined;
}
