/* Draws the Mandelbrot set with OpenCL: mandelbrot [WIDTH [FILE]]. Nothing in here knows of fgpu.

   cc mandelbrot.c -o mandelbrot -lOpenCL      (Debian: ocl-icd-opencl-dev has the headers) */

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static char source[10000];

static void check(cl_int status, const char *what)
{
    if (status != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, status);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    size_t size[2] = {count > 1 ? (size_t)atoi(arguments[1]) : 256, 0};
    const char *name = count > 2 ? arguments[2] : "mandelbrot.pgm";
    const char *text = source;
    cl_float left = -2.2f, top = 1.2f, step = 3.2f / size[0];
    cl_uint limit = 50;
    cl_platform_id platform;
    cl_device_id device;
    cl_ulong start, end;
    cl_event event;
    cl_int status;
    char device_name[200];

    size[1] = size[0] * 3 / 4;
    FILE *file = fopen("mandelbrot.cl", "r");
    if (!file || !fread(source, 1, sizeof source - 1, file)) {
        fprintf(stderr, "no mandelbrot.cl here\n");
        return 1;
    }
    fclose(file);

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL), "clGetDeviceIDs");
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL), "clGetDeviceInfo");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    check(status, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "mandelbrot", &status);
    check(status, "clCreateKernel");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_WRITE_ONLY, size[0] * size[1], NULL, &status);
    check(status, "clCreateBuffer");

    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof left, &left), "clSetKernelArg");
    check(clSetKernelArg(kernel, 2, sizeof top, &top), "clSetKernelArg");
    check(clSetKernelArg(kernel, 3, sizeof step, &step), "clSetKernelArg");
    check(clSetKernelArg(kernel, 4, sizeof limit, &limit), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, NULL, 0, NULL, &event), "clEnqueueNDRangeKernel");
    unsigned char *picture = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, size[0] * size[1], 1, &event,
                                                NULL, &status);
    check(status, "clEnqueueMapBuffer");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "profiling");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "profiling");

    file = fopen(name, "wb");
    if (!file || fprintf(file, "P5 %zu %zu 255\n", size[0], size[1]) < 0
            || fwrite(picture, 1, size[0] * size[1], file) != size[0] * size[1] || fclose(file)) {
        perror(name);
        return 1;
    }
    printf("%s: %s, %.2f ms\n", device_name, name, (double)(end - start) / 1e6);

    check(clEnqueueUnmapMemObject(queue, buffer, picture, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    check(clFinish(queue), "clFinish");
    clReleaseEvent(event);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
