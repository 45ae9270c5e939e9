const key = 'recordbus-tour';

/** The first steps, shown after the first start until they are done or dismissed. This browser remembers them. */
class Tour {
  isShown = $state(localStorage.getItem(key) === '1');

  begin(): void {
    localStorage.setItem(key, '1');
    this.isShown = true;
  }

  end(): void {
    localStorage.removeItem(key);
    this.isShown = false;
  }
}

export const tour = new Tour();
