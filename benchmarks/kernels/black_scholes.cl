// Prices of European calls and puts by the formula of Black and Scholes; the normal distribution by a polynomial
// (Abramowitz and Stegun, 26.2.17).
float normal_distribution(float x)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * exp(-0.5f * x * x) * sum;
    if (x > 0)
        tail = 1.0f - tail;
    return tail;
}

__kernel void black_scholes(__global const float *prices, __global const float *strikes, __global const float *years,
                            __global float *calls, __global float *puts, float rate, float volatility)
{
    int i = get_global_id(0);
    float spread = volatility * sqrt(years[i]);
    float d1 = (log(prices[i] / strikes[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
    float p1 = normal_distribution(d1), p2 = normal_distribution(d1 - spread);
    float discounted = strikes[i] * exp(-rate * years[i]);
    calls[i] = prices[i] * p1 - discounted * p2;
    puts[i] = discounted * (1.0f - p2) - prices[i] * (1.0f - p1);
}
