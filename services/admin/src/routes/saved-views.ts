import type { Database } from '@recordbus/database';
import { created, exactText, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import {
  adminIdOf,
  changeSavedView,
  createSavedView,
  deleteSavedView,
  type SavedViewWork,
} from '../saved-views/change-saved-views.ts';
import { newSavedView, savedViewChange, savedViewJson } from '../saved-views/saved-view-schema.ts';
import { listSavedViews } from '../saved-views/saved-view-store.ts';

interface SavedViewRoutesDeps {
  readonly database: Database;
  readonly nowSec: () => number;
}

const path = '/api/v1/admin/saved-views';
const onePath = `${path}/:id`;
const params = z.object({ id: z.string() });
const noSuchView = { 404: 'There is no such saved view, or another admin owns it.' };

/** Saved view routes (admins §9). */
export function savedViewRoutes({ database, nowSec }: SavedViewRoutesDeps): Route[] {
  const workOf = (input: {
    readonly context: RequestContext;
    header(name: string): string | undefined;
  }): SavedViewWork => ({
    database,
    adminId: adminIdOf(input.context.principal),
    actor: actorOf(input),
    nowSec: nowSec(),
  });
  return [
    route({
      method: 'GET',
      path,
      access: 'admin',
      scope: 'admin',
      summary: "List the shared saved views and one's own, by name",
      query: pageQuery.extend({ collection: exactText.describe("the collection's name") }),
      answers: { 200: pageOf(savedViewJson) },
      handler: async ({ query: wanted, context }) => {
        const { rows, totalItems } = await listSavedViews(database.query, adminIdOf(context.principal), wanted);
        return page(rows, { page: wanted.page, perPage: wanted.perPage, totalItems });
      },
    }),
    route({
      method: 'POST',
      idempotent: true,
      path,
      access: 'admin',
      scope: 'admin',
      summary: "Save a view of a collection's records",
      body: newSavedView,
      answers: { 201: savedViewJson, 409: 'There is no room for another saved view of the collection.' },
      handler: async (input) => created(await createSavedView(workOf(input), input.body)),
    }),
    route({
      method: 'PATCH',
      path: onePath,
      access: 'admin',
      scope: 'admin',
      summary: 'Change a saved view',
      params,
      body: savedViewChange,
      answers: { 200: savedViewJson, ...noSuchView },
      handler: async (input) => ok(await changeSavedView(workOf(input), input.params.id, input.body)),
    }),
    route({
      method: 'DELETE',
      path: onePath,
      access: 'admin',
      scope: 'admin',
      summary: 'Delete a saved view',
      params,
      answers: { 200: z.null(), ...noSuchView },
      async handler(input) {
        await deleteSavedView(workOf(input), input.params.id);
        return ok(null);
      },
    }),
  ];
}
