import {
  exactText,
  flag,
  ok,
  page,
  pageOf,
  pageQuery,
  type Route,
  route,
  spanOf,
  spanQuery,
  timeSec,
} from '@recordbus/http';
import { z } from 'zod';
import type { RequestLog } from '../request-log/request-log.ts';
import { requestJson } from '../request-log/request-row.ts';
import { requestSummaryJson } from '../request-log/request-summary.ts';

/** A status such as `404`, or a class such as `4xx`, as its first and last status. */
const statuses = z
  .string()
  .regex(/^([1-5]\d\d|[1-5]xx)?$/, 'must be a status such as 404 or a class such as 4xx')
  .transform((text): readonly [number, number] | undefined => {
    if (text === '') return undefined;
    return [Number(text.replace('xx', '00')), Number(text.replace('xx', '99'))];
  })
  .optional();

/** Types of principals, separated by commas. */
const principalTypes = z
  .string()
  .regex(
    /^((guest|user|admin|service)(,(guest|user|admin|service)){0,3})?$/,
    'must be guest, user, admin or service, or several of them, separated by commas',
  )
  .transform((text) => (text === '' ? undefined : text.split(',')))
  .optional();

/** The request log's routes (admins §7). */
export const requestLogRoutes = ({ list, summarize }: Pick<RequestLog, 'list' | 'summarize'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/logs',
    access: 'admin',
    scope: 'logs:read',
    summary: 'List answered requests, newest first',
    query: pageQuery.extend({
      status: statuses.describe('a status such as 404, or a class such as 4xx'),
      method: exactText.transform((text) => text?.toUpperCase()).describe('the method'),
      path: exactText.describe('a path prefix'),
      principal_type: principalTypes.describe("the principal's type, or several, such as `guest,user`"),
      principal_id: exactText.describe("the principal's id"),
      auth_impersonated_by: exactText.describe('the id of the admin who acted as the user'),
      request_id: exactText.describe("the answer's X-Request-Id"),
      since: timeSec.describe('not before this, in unix seconds'),
      until: timeSec.describe('not after this, in unix seconds'),
      skipTotal: flag.describe('count nothing; the totals are -1'),
    }),
    answers: { 200: pageOf(requestJson) },
    async handler({ query: filter }) {
      const { rows, totalItems } = await list(filter);
      return page(rows, { page: filter.page, perPage: filter.perPage, totalItems });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/logs/summary',
    access: 'admin',
    scope: 'logs:read',
    summary: 'Count and measure the requests answered in a time range',
    query: spanQuery,
    answers: { 200: requestSummaryJson },
    handler: async ({ query }) => ok(await summarize(spanOf(query))),
  }),
];
