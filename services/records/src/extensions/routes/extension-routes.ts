import type { Query } from '@recordbus/database';
import type { ExtensionHost, RouteDescription, RouteInput, RouteOutput } from '@recordbus/extension-host';
import { type Route, rawJson, route } from '@recordbus/http';
import type { Logger } from '@recordbus/process/logging';
import { authOf, createParameters, type QuerySchema } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import { z } from 'zod';
import { ruleRefusal } from '../../rules/authorize.ts';
import { compileCondition } from '../../rules/compile-rule.ts';
import { rootScope } from '../call-scope.ts';
import type { WithTransactions } from '../call-transactions.ts';
import { callerOf } from '../caller-of.ts';

interface ExtensionRoutesDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly withTransactions: WithTransactions;
  readonly query: Query;
  readonly schema: QuerySchema;
  readonly log: Logger;
}

/** The path prefix for extension routes. */
const extensionPrefix = '/api/x';

/** Headers that extensions do not get: credentials, and the product's internal headers. */
const withheldHeaders = /^(authorization|cookie|proxy-authorization|x-recordbus-.*)$/;

/** The loaded extensions' routes. When two have the same method and path, the second is left out and logged. */
export function extensionRoutes(deps: ExtensionRoutesDeps): Route[] {
  const taken = new Map<string, string>();
  return deps.host.extensions.flatMap(({ name, description }) =>
    description.routes.flatMap((described) => {
      const place = `${described.method} ${described.path.replaceAll(/:[^/]+/g, ':')}`;
      const owner = taken.get(place);
      if (owner !== undefined) {
        deps.log.error({ extension: name, route: place, takenBy: owner }, 'an extension route is already taken');
        return [];
      }
      taken.set(place, name);
      return [extensionRoute(deps, name, described)];
    }),
  );
}

function extensionRoute(deps: ExtensionRoutesDeps, extension: string, described: RouteDescription): Route {
  const { method, path, access, scope, rule, action, summary, idempotent, timeoutMs, takesBody, schemas } = described;
  return route({
    method,
    path: `${extensionPrefix}${path}`,
    access,
    scope,
    idempotent,
    ...(action && { action }),
    summary: summary || `${extension}: ${method} ${path}`,
    ...(takesBody && { body: z.record(z.string(), z.unknown()) }),
    answers: {
      200: z.unknown(),
      403: "the route's rule refuses",
      422: 'the body is refused',
      500: 'the extension failed',
      504: 'the extension took too long',
    },
    described: schemas,
    async handler(input) {
      const { context, params, query, body, header, headerNames } = input;
      const headers = Object.fromEntries(
        headerNames()
          .filter((name) => !withheldHeaders.test(name))
          .map((name) => [name, header(name) ?? '']),
      );
      if (rule !== undefined)
        await checkRouteRule(deps, rule, { context, method, body, headers, queryText: input.queryText });
      const request: RouteInput = {
        params,
        query,
        body,
        headers,
        caller: callerOf(context.principal),
        clientAddress: context.clientAddress,
        requestId: context.requestId,
      };
      const target = { kind: 'route', name: `${method} ${path}` } as const;
      const answered = (await deps.withTransactions(extension, rootScope(context), (answer) =>
        deps.host.call(extension, { target, input: request, timeoutMs, answer }),
      )) as RouteOutput;
      return rawJson(answered.status, answered.json, headersOfReply(answered.headers));
    },
  });
}

interface RouteRequest {
  readonly context: RequestContext;
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  queryText(name: string): string | undefined;
}

/** Route rules are compiled against this collection without fields. */
const noCollection = {
  id: '',
  name: '',
  type: 'base',
  fields: [],
  viewQuery: null,
  rules: { list: '', view: '', create: '', update: '', delete: '' },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
} as const;

/** Throws 403 or 401 when a route's rule does not hold. A rule that cannot be compiled admits only admins. */
async function checkRouteRule(
  { query, schema }: ExtensionRoutesDeps,
  rule: string,
  input: RouteRequest,
): Promise<void> {
  const { context, method, body, headers, queryText } = input;
  const { principal } = context;
  if (isAdmin(principal)) return;
  const parameters = createParameters();
  const condition = compileCondition(rule, noCollection, { principal, schema }, { row: 'nothing', parameters });
  const request = {
    method,
    auth: authOf(principal),
    body,
    query: queryText,
    header: (name: string) => headers[name],
  };
  const [row] = await query<{ allowed: boolean }>({
    text: `select (${condition}) is true as allowed from (select) nothing`,
    values: parameters.values(request),
  });
  if (!row?.allowed) throw ruleRefusal(principal, "the route's rule does not allow it");
}

/** Headers that the gateway sets, or that describe the connection or the body's encoding. */
const reservedHeaders =
  /^(access-control-.*|connection|content-encoding|content-length|date|keep-alive|ratelimit-.*|referrer-policy|trailer|transfer-encoding|upgrade|x-content-type-options|x-frame-options|x-recordbus-.*|x-request-id)$/i;

/** Returns the headers that an extension may set. Its `Vary` is added to the origin's. */
const headersOfReply = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => !reservedHeaders.test(name))
      .map(([name, value]) => (name.toLowerCase() === 'vary' ? ['Vary', `Origin, ${value}`] : [name, value])),
  );
