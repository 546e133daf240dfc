// Step k of the LU factorization of a row-major n x n matrix in place: two launches, over rows and columns > k.
__kernel void lu_divide(__global float *matrix, uint n, uint k)
{
    uint y = get_global_id(0);
    if (y > k)
        matrix[y * n + k] /= matrix[k * n + k];
}

__kernel void lu_subtract(__global float *matrix, uint n, uint k)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    if (x > k && y > k)
        matrix[y * n + x] -= matrix[y * n + k] * matrix[k * n + x];
}
