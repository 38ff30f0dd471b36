/** A mark: whoever holds the same object may change a part in place. */
export class Owner {
  declare private readonly brand: never;
}
