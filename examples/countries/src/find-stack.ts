import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from './failure.ts';

interface FoundStack {
  readonly url: string;
  /** Makes the first admin; a stack leaves it only where its owner can read it. */
  readonly setupToken: string | undefined;
}

const usualUrl = 'http://localhost:8080';

/** Finds the stack on this machine: by the note in its data directory, else at the usual address. */
export async function findLocalStack(): Promise<FoundStack> {
  const note = await readNote(join(process.env.SERVICE_DATA_DIR ?? './data', 'stack.json'));
  if (note && (await isHealthy(note.url))) return { url: note.url, setupToken: note.setupToken };
  if (await isHealthy(usualUrl)) return { url: usualUrl, setupToken: undefined };
  throw new Failure('No stack runs here. Start one with `npm start` in another terminal, or name one with --url.');
}

async function readNote(file: string): Promise<{ url: string; setupToken?: string } | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** A stack that was killed leaves its note behind, and another program may have taken its port. */
async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
