const base = '/_';

/** Returns a page's address from its segments. */
export const pathTo = (...segments: readonly string[]): string =>
  `${base}/${segments.map(encodeURIComponent).join('/')}`;

const isPage = (url: URL): boolean =>
  url.origin === location.origin && (url.pathname === base || url.pathname.startsWith(`${base}/`));

const segmentsOf = (path: string): string[] => path.slice(base.length).split('/').filter(Boolean).map(decode);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Tracks the current page, by the browser's address. */
class Router {
  segments = $state.raw<readonly string[]>(segmentsOf(location.pathname));
  query = $state.raw(new URLSearchParams(location.search));
  /** Called before leaving the page. A page with unsaved changes returns false to stay. */
  mayLeave: () => boolean = () => true;
  /** The navigation that waits for the reader to discard unsaved changes. */
  waiting = $state.raw<() => void>();
  /** The current page's address. */
  #address = location.pathname + location.search;

  /** Handles clicks on links, and the Back and Forward buttons. */
  start(): void {
    addEventListener('popstate', () => {
      const address = location.pathname + location.search;
      // The browser has already left, so a page that stays needs its address back.
      if (!this.mayLeave()) history.pushState(null, '', this.#address);
      this.leave(() => {
        if (location.pathname + location.search !== address) history.pushState(null, '', address);
        this.#read();
      });
    });
    addEventListener('beforeunload', (event) => {
      if (!this.mayLeave()) event.preventDefault();
    });
    document.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (!link || link.target || link.hasAttribute('download') || event.defaultPrevented || event.button !== 0) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      const url = new URL(link.href);
      if (!isPage(url)) return;
      event.preventDefault();
      this.open(url.pathname + url.search);
    });
  }

  /** Opens a page. */
  open(path: string): void {
    this.leave(() => {
      history.pushState(null, '', path);
      this.#read();
      scrollTo(0, 0);
    });
  }

  /** Runs a navigation now, or after the reader discards unsaved changes. */
  leave(go: () => void): void {
    if (this.mayLeave()) go();
    else
      this.waiting = () => {
        this.mayLeave = () => true;
        go();
      };
  }

  /** Changes query parameters without adding a history entry. An empty value removes a parameter. */
  setQuery(changes: Readonly<Record<string, string | undefined>>): void {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    history.replaceState(null, '', location.pathname + (text && `?${text}`));
    this.#address = location.pathname + location.search;
    this.query = query;
  }

  #read(): void {
    this.#address = location.pathname + location.search;
    this.segments = segmentsOf(location.pathname);
    this.query = new URLSearchParams(location.search);
  }
}

export const router = new Router();
