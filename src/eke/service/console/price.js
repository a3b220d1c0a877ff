// Prices: what is left, in words, and whether to spend much of it.
import { number } from "./dom.js";

const MUCH = 0.1; // of what is left: to spend more in one go, one is asked

export const leftOf = ({ remaining, capped }) => (capped ? `${number(remaining, 4)} that your cap leaves you` : `${number(remaining, 4)} left`);

export const tooMuch = ({ capped, guarded }) => (guarded ? `It is refused: ${guarded}.` : capped ? "That is more than your cap leaves you; the curator can raise it." : "That is more than is left.");

// The price of a question. What to do instead of one that is refused, the server knows best.
export function inWords(offer) {
  const known = offer.known === null ? "nothing yet" : offer.of_rank ? `${number(offer.known, 4)} records off` : `±${number(offer.known, 4)}`;
  if (offer.action === "refuse") return offer.sentence;
  if (offer.action === "history") return `Free: history gives ${known}.`;
  const price = `${offer.measure} ${number(offer.cost, 4)} of ${leftOf(offer)}; history gives ${known}.`;
  if (offer.spend !== undefined && offer.first_step) return `A first step would cost ${price} How accurate ${number(offer.spend, 4)} in all makes it depends on how many records there are.`;
  if (offer.spend !== undefined && offer.of_rank && offer.within !== null) return `Would choose a number at most ${number(offer.within, 4)} records off for ${price}`;
  if (offer.spend !== undefined && offer.within !== null) return `Would buy ±${number(offer.within, 4)} for ${price}`;
  return offer.first_step ? `The next step would cost ${price} How much the whole costs depends on ${unknown(offer)}: ${likely(offer)}${atMost(offer)}.` : `Would cost ${price}`;
}

// What the price of the whole depends on, and the most that it can be.
const unknown = ({ share }) => (share === undefined ? "how many records there are" : "the value");
const likely = ({ measure, likely: cost, records }) => (cost === undefined ? "" : `about ${measure} ${number(cost, 3)} or less where each average is one of ${number(records)} records or more; `);
const atMost = ({ measure, most, capped }) => `at most ${measure} ${number(most, 4)}, all that ${capped ? "your cap leaves you" : "is left"}`;

// Whether to go on with something that costs more than a share of what is left, as whoever clicked says.
export function agreed(offer, much = MUCH) {
  const { measure, cost: next, spend, remaining, capped, first_step } = offer;
  const cost = next > 0 && spend !== undefined ? spend : next, inSteps = first_step && spend === undefined; // a price is a price
  if (cost <= much * remaining && !(inSteps && cost > 0)) return true;
  const share = `${measure} ${number(cost, 4)}, ${number((100 * cost) / remaining, 2)} % of ${capped ? "what your cap leaves you" : "what is left"}`;
  return confirm(inSteps
    ? `This is found out in steps. The next one spends ${share}; how much all of them spend depends on ${unknown(offer)}: ${likely(offer)}${atMost(offer)}. It cannot be undone. Go on?`
    : `This spends ${share}. It cannot be undone. Spend it?`);
}
