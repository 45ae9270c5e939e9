import type { CollectionDefinition } from '@recordbus/client';

/** Whether guests may write records of a collection, because a rule for writes admits everyone. */
export const isOpenToGuests = ({ type, create_rule, update_rule, delete_rule }: CollectionDefinition): boolean =>
  type !== 'view' && [create_rule, update_rule, delete_rule].includes(null);

/** Describes who a rule admits. */
export const audienceOf = (rule: string | null): string =>
  rule === null ? 'Everyone' : rule === '' ? 'Admins' : 'Expression';
