import type { Scenario } from '../harness/stacks/scenario.ts';

/** The rules that let every caller list and view. */
export const open = { list_rule: null, view_rule: null };

export const createView = (
  name: string,
  viewQuery: unknown,
  more: object = {},
): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: 'POST /api/v1/collections',
  body: { name, type: 'view', view_query: viewQuery, ...more },
});
