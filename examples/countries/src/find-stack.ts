import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from './failure.ts';

interface FoundStack {
  readonly url: string;
  /** Creates the first admin. Only the data directory's owner can read it. */
  readonly setupToken: string | undefined;
}

const defaultUrl = 'http://localhost:8080';

/** Finds the stack on this machine: by the note in its data directory, or at the default address. */
export async function findLocalStack(): Promise<FoundStack> {
  const note = await readNote(join(process.env.SERVICE_DATA_DIR ?? './data', 'stack.json'));
  if (note && (await isHealthy(note.url))) return { url: note.url, setupToken: note.setupToken };
  if (await isHealthy(defaultUrl)) return { url: defaultUrl, setupToken: undefined };
  throw new Failure('No stack runs here. Start one with `npm start` in another terminal, or name one with --url.');
}

async function readNote(file: string): Promise<{ url: string; setupToken?: string } | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Whether a stack answers: a killed one leaves its note, and another program may use its port. */
async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
