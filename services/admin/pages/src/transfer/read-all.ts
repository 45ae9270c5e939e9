/** How much of an export has arrived. */
export interface ReadSoFar {
  readonly bytes: number;
  /** Ends of lines so far; a quoted line end in CSV counts too. */
  readonly rows: number;
}

const lineEnd = 10;
/** The minimum interval between two reports to the page. */
const tellMs = 100;

/** Reads an export to its end, telling how far it is. Throws if it breaks off. */
export async function readAll(response: Response, tell: (read: ReadSoFar) => void): Promise<Blob> {
  const chunks: Blob[] = [];
  const reader = response.body?.getReader();
  let [bytes, rows, toldAt] = [0, 0, 0];
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    // As blobs the browser may keep them on its disk.
    chunks.push(new Blob([next.value]));
    bytes += next.value.length;
    for (const byte of next.value) if (byte === lineEnd) rows += 1;
    if (Date.now() - toldAt < tellMs) continue;
    toldAt = Date.now();
    tell({ bytes, rows });
  }
  tell({ bytes, rows });
  return new Blob(chunks, { type: response.headers.get('content-type') ?? 'application/octet-stream' });
}
