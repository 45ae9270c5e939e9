import { malformedParameter } from '@recordbus/errors';
import { chooseCoding, otherContent, type Route, route, withHeaders } from '@recordbus/http';
import { callOf } from '../rules/rule-context.ts';
import { gzipped } from '../transfer/export/compression.ts';
import { exportQuery } from '../transfer/export/export-query.ts';
import { openExport } from '../transfer/export/open-export.ts';
import { exportContentTypes } from '../transfer/formats/format-writer.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** The API document shows the longest path, which comes first. In the others, `export` is in an id's place. */
const paths = collectionPaths.map((path) => `${path}/export`).reverse();

/** `GET /api/<col>/export`. */
export const exportRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: paths,
    access: 'public',
    scope: 'records:read',
    action: 'list',
    summary: 'Export records as CSV, NDJSON or JSON',
    params: collectionParams,
    query: exportQuery,
    requestHeaders: { 'Accept-Encoding': 'with gzip, the answer is compressed' },
    answers: {
      200: withHeaders(otherContent('*/*', 'the records; an answer that breaks off is not complete'), {
        'Content-Disposition': 'A name for the file',
        'Content-Encoding': 'gzip if the request accepts it',
      }),
      400: 'a parameter is invalid',
      403: 'the list rule refuses',
      404: 'no such collection',
      422: tooExpensive,
      429: 'the caller has too many exports running',
      503: 'too many exports are running',
    },
    admit: admitTo('list', deps),
    handler: (input) => {
      const { query, params, header } = input;
      refuseSearch(input);
      const isCompressed = chooseCoding(header('accept-encoding'), ['gzip']) !== undefined;
      const openStream = () =>
        deps.collections.serve(requestOf('list', input), (collection) =>
          openExport(deps.exports, collection, query, callOf('GET', input, deps), deps.encryption),
        );
      return {
        status: 200,
        headers: {
          'Content-Type': exportContentTypes[query.format],
          'Content-Disposition': `attachment; filename="${params.collection}.${query.format}"`,
          'Cache-Control': 'private, no-store',
          Vary: 'Origin, Accept-Encoding',
          ...(isCompressed && { 'Content-Encoding': 'gzip' }),
        },
        openStream: isCompressed ? async () => gzipped(await openStream()) : openStream,
      };
    },
  });

/** Refuses what a list has and an export lacks: without it, the export would have all records. */
function refuseSearch({ queryText }: { queryText(name: string): string | undefined }): void {
  for (const name of ['search', 'nearVector'])
    if (queryText(name)) throw malformedParameter(name, 'is not for exports');
}
