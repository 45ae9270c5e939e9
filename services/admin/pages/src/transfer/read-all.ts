/** An export's progress. */
export interface ExportProgress {
  readonly bytes: number;
  /** How many line ends came so far, including quoted ones in CSV. */
  readonly rows: number;
}

const lineEnd = 10;
/** The minimum interval between progress reports. */
const reportMs = 100;

/** Reads an export to its end and reports progress. Throws if it is interrupted. */
export async function readAll(response: Response, onProgress: (progress: ExportProgress) => void): Promise<Blob> {
  const chunks: Blob[] = [];
  const reader = response.body?.getReader();
  let [bytes, rows, reportedAt] = [0, 0, 0];
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    // The browser may keep blobs on disk.
    chunks.push(new Blob([next.value]));
    bytes += next.value.length;
    for (const byte of next.value) if (byte === lineEnd) rows += 1;
    if (Date.now() - reportedAt < reportMs) continue;
    reportedAt = Date.now();
    onProgress({ bytes, rows });
  }
  onProgress({ bytes, rows });
  return new Blob(chunks, { type: response.headers.get('content-type') ?? 'application/octet-stream' });
}
