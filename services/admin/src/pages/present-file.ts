import { isKnownVersion, type Reply } from '@recordbus/shared/http';
import type { BuiltFile } from './built-files.ts';
import { acceptedCodings, codings } from './content-coding.ts';

/** What a page may do (spec P): nothing but to load from this origin and to talk to it. */
export const pagesPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Request {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Returns the answer with a file, in the best coding that the client accepts, or 304 where it has the file. */
export function presentFile(file: BuiltFile, request: Request, cacheControl: string): Reply {
  const cached = {
    ETag: file.etag,
    'Cache-Control': cacheControl,
    Vary: 'Origin, Accept-Encoding',
    'Content-Security-Policy': pagesPolicy,
  };
  if (isKnownVersion(request.ifNoneMatch, file.etag)) return { status: 304, headers: cached };
  const accepted = acceptedCodings(request.acceptEncoding);
  const coding = codings.find(({ name }) => accepted.has(name) && file.coded.has(name))?.name;
  return {
    status: 200,
    text: (coding && file.coded.get(coding)) || file.bytes,
    headers: { ...cached, 'Content-Type': file.contentType, ...(coding && { 'Content-Encoding': coding }) },
  };
}
