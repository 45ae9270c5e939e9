import { chooseCoding, isKnownVersion, type Reply } from '@recordbus/http';
import type { BuiltFile } from './built-files.ts';
import { codings } from './content-coding.ts';

/** A page may only load from this origin and send requests to it (spec P). */
const pagesPolicy = [
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

/** The hashes of the style elements that the API reference's script adds. A browser test finds missing ones. */
const referenceStyles = [
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  'ZW1GSuo0pKyEx5Ar7ZC5Dflb/mjatjeTW9aVx0iZAzE=',
  'DLlkYCuDYGe6ME23YkUFB7Tc36rGDeo4mVBFbZX3uaU=',
  'rO+6k1mDRASa9Q8IQu9I3bF+bjRdxDreAZCyGSaxzeI=',
  'ZxJPHmhfzkZ/sABsMEsX1NJLyJ33Vf0mFSLUIK0Ticc=',
];

/**
 * The API document page's policy also allows style attributes, which its script writes into code samples. They can load
 * nothing.
 */
const referencePolicy = pagesPolicy.replace(
  "style-src 'self'",
  ["style-src 'self'", ...referenceStyles.map((hash) => `'sha256-${hash}'`)]
    .join(' ')
    .concat("; style-src-attr 'unsafe-inline'"),
);

/**
 * The pages' policies. They read record files from the host in the setting `files.host`. Only the portal may be framed, by
 * the origins in `webhooks.portal_frames`.
 */
export const policiesFor = (filesHost: string | undefined, portalFrames: readonly string[] = []) => {
  const withFiles = (policy: string): string =>
    filesHost === undefined ? policy : policy.replace("connect-src 'self'", `connect-src 'self' ${filesHost}`);
  const frames = portalFrames.length > 0 ? portalFrames.join(' ') : "'none'";
  return {
    pages: withFiles(pagesPolicy),
    reference: withFiles(referencePolicy),
    portal: pagesPolicy.replace("frame-ancestors 'none'", `frame-ancestors ${frames}`),
  };
};

interface Request {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Returns the answer with a file in the best coding that the client accepts, or 304 if the client has the file. */
export function presentFile(file: BuiltFile, request: Request, cacheControl: string, policy: string): Reply {
  const cached = {
    ETag: file.etag,
    'Cache-Control': cacheControl,
    Vary: 'Origin, Accept-Encoding',
    'Content-Security-Policy': policy,
  };
  if (isKnownVersion(request.ifNoneMatch, file.etag)) return { status: 304, headers: cached };
  const stored = codings.map(({ name }) => name).filter((name) => file.coded.has(name));
  const coding = chooseCoding(request.acceptEncoding, stored);
  return {
    status: 200,
    text: (coding && file.coded.get(coding)) || file.bytes,
    headers: { ...cached, 'Content-Type': file.contentType, ...(coding && { 'Content-Encoding': coding }) },
  };
}
