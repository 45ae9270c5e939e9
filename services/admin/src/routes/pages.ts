import { notFound } from '@recordbus/errors';
import { otherContent, type Route, type RouteInput, route, withHeaders } from '@recordbus/http';
import { type ApiAudience, admitReader } from '@recordbus/settings';
import { z } from 'zod';
import type { PagesState } from '../pages/built-files.ts';
import { policiesFor, presentFile } from '../pages/present-file.ts';
import { waitingPage } from '../pages/waiting-page.ts';

/** A page is at most this deep: `/_/collections/posts/records/<id>/history`. */
const depths = [':area', ':name', ':part', ':id', ':view'];
const pagePaths = ['/_', ...depths.map((_, depth) => `/_/${depths.slice(0, depth + 1).join('/')}`)];

const requestHeaders = {
  'If-None-Match': "a cached answer's ETag",
  'Accept-Encoding': 'br and gzip are served precompressed',
};
const etag = { ETag: "The file's ETag" };
const pageAnswers = {
  200: withHeaders(otherContent('text/html', 'the page'), etag),
  304: 'the cached answer is current',
} as const;

const requestOf = ({ header }: Pick<RouteInput<never, never, never>, 'header'>) => ({
  acceptEncoding: header('accept-encoding'),
  ifNoneMatch: header('if-none-match'),
});

interface PageRoutesDeps {
  readonly read: () => Promise<PagesState>;
  /** The callers that may read the API document. */
  readonly audience: () => ApiAudience;
  /** The host in the setting `files.host`. */
  readonly filesHost: () => string | undefined;
  /** The origins in the setting `webhooks.portal_frames`. */
  readonly portalFrames: () => readonly string[];
}

interface PageRoute {
  readonly path: string | readonly string[];
  readonly summary: string;
  readonly file: 'index' | 'portal';
  /** The page's Content-Security-Policy. */
  readonly policy: () => string;
}

/** The admin pages, and the API document's page (http §12). A page's script reads the rest of its path. */
export const pageRoutes = ({ read, audience, filesHost, portalFrames }: PageRoutesDeps): Route[] => {
  const policies = () => policiesFor(filesHost(), portalFrames());

  /** A page, or one that waits for it. */
  const pageRoute = ({ path, summary, file, policy }: PageRoute): Route =>
    route({
      method: 'GET',
      path,
      access: 'public',
      scope: 'any',
      summary,
      requestHeaders,
      answers: pageAnswers,
      async handler(input) {
        const state = await read();
        return state.files
          ? presentFile(state.files[file], requestOf(input), 'no-cache', policy())
          : waitingPage(state.failure, policy());
      },
    });

  return [
    pageRoute({
      path: '/_/portal',
      summary: 'Get the page where owners manage their webhooks, or a page that reloads itself while it is being built',
      file: 'portal',
      policy: () => policies().portal,
    }),
    pageRoute({
      path: pagePaths,
      summary: 'Get the admin pages, or a page that reloads itself while they are being built',
      file: 'index',
      policy: () => policies().pages,
    }),
    route({
      method: 'GET',
      // The root shows the page too, for people who open it in a browser.
      path: ['/docs', '/'],
      access: 'public',
      scope: 'any',
      summary: 'Get the API document page, or a page that reloads itself while it is being built',
      requestHeaders,
      answers: { ...pageAnswers, 404: 'the setting openapi.audience excludes this caller' },
      async handler(input) {
        admitReader(input.context.principal, audience());
        const state = await read();
        if (!state.files) return waitingPage(state.failure, policies().pages);
        return presentFile(state.files.docs, requestOf(input), 'private, no-cache', policies().reference);
      },
    }),
    route({
      method: 'GET',
      path: '/_/assets/:file',
      access: 'public',
      scope: 'any',
      summary: 'Get an admin pages file; its name changes with its content',
      params: z.strictObject({ file: z.string() }),
      requestHeaders,
      answers: {
        200: withHeaders(otherContent('text/javascript', 'the file'), etag),
        304: 'the cached answer is current',
        404: 'There is no such file.',
      },
      async handler(input) {
        const { files } = await read();
        const file = files?.assets.get(input.params.file);
        if (!file) throw notFound('file');
        return presentFile(file, requestOf(input), 'public, max-age=31536000, immutable', policies().pages);
      },
    }),
  ];
};
