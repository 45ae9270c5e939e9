import type { Caller } from '@recordbus/extensions';
import type { Principal } from '@recordbus/request/context';

/** Returns the principal in the form that extensions get. */
export function callerOf(principal: Principal): Caller {
  switch (principal.type) {
    case 'guest':
      return { type: 'guest' };
    case 'admin':
      return { type: 'admin', id: principal.id, email: principal.email };
    case 'service':
      return { type: 'service', id: principal.id, scopes: principal.scopes };
    case 'user': {
      const { id, email, collection, anonymous, impersonatedBy } = principal;
      return { type: 'user', id, email, collection, anonymous, impersonatedBy };
    }
  }
}
